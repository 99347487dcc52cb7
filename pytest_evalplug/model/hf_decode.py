"""Text generation token by token, rows coming and going.

A row leaves at the token that ends it and the next prompt takes its place, so every step is as full
as it can be. Keys and values are written in place, each row's from column 0 on: nothing is padded
but to the longest row of the moment, and what rows begin with is copied from what is kept.
"""

from __future__ import annotations

__all__ = ["Decoder", "can_decode"]

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.hf_batches import Batcher, empty_cache, out_of_memory
from pytest_evalplug.model.hf_prefix import PrefixCache, cache_parameter
from pytest_evalplug.model.hf_reply import Ending, Sampler
from pytest_evalplug.types import ModelOutput

log = logging.getLogger("pytest_evalplug.model")

_ENOUGH = 512
"""Tokens that are worth a forward pass of their own: prompts that join together are padded to the
longest of them."""


@dataclass(slots=True)
class _Row:
    index: int
    prompt: list[int]
    generator: Any = None
    written: list[int] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The token to be read next."""
        return (self.written or self.prompt)[-1]

    @property
    def held(self) -> int:
        """How many tokens have been read, all but the last."""
        return len(self.prompt) + len(self.written) - 1


class _Rows:
    """The rows that are being written, and their cache: places 0, 1, ... without a gap."""

    def __init__(self, model: Any, prefixes: PrefixCache, places: int) -> None:
        from pytest_evalplug.model.hf_cache import RowCache

        self._model = model
        self._prefixes = prefixes
        self._cache = RowCache(places)
        self._named = {cache_parameter(model): self._cache, "use_cache": True, "logits_to_keep": 1}
        self.active: list[_Row] = []

    def join(self, rows: list[_Row]) -> None:
        """Take rows in, the longest first, in groups of about as many tokens as are enough."""
        header = self._prefixes.shared([row.prompt for row in rows])
        while rows:
            new = len(rows[0].prompt) - len(header)
            count = max(1, _ENOUGH // new)
            self._read(rows[:count], header)
            rows = rows[count:]

    def _read(self, rows: list[_Row], header: tuple[int, ...]) -> None:
        """Read prompts, but for the last token of each."""
        import torch

        first = len(self.active)
        self.active += rows  # before memory can run out, for whoever counts them then
        start, width = len(header), max(row.held for row in rows)
        if header:
            self._cache.fill(first, len(rows), self._prefixes.of(header))
        if width == start:
            return
        ids = [row.prompt[start:-1] + [0] * (width - row.held) for row in rows]
        positions = torch.arange(start, width, device=self._model.device).expand(len(rows), -1)
        self._cache.aim(first, positions, start, width)
        # The padding stands on the right, after all that looks back: it needs no mask.
        self._model(
            input_ids=torch.tensor(ids, device=self._model.device),
            position_ids=positions,
            **self._named,
        )

    def logits(self) -> Any:
        """Read the last token of each row; return what follows, rows x vocabulary."""
        import torch

        device, dtype = self._model.device, self._model.dtype
        tokens = torch.tensor([[row.last, row.held] for row in self.active], device=device)
        ids, columns = tokens[:, :1], tokens[:, 1:]
        width = max(row.held for row in self.active) + 1
        mask = torch.zeros((len(self.active), width), dtype=dtype, device=device)
        mask.masked_fill_(torch.arange(width, device=device) > columns, torch.finfo(dtype).min)
        self._cache.aim(0, columns, width - 1, width)
        output = self._model(
            input_ids=ids,
            position_ids=columns,
            attention_mask=mask[:, None, None],
            **self._named,
        )
        return output.logits[:, -1]

    def leave(self, place: int) -> _Row:
        """Remove a row; the last one takes its place."""
        row, last = self.active[place], self.active.pop()
        if place < len(self.active):
            self.active[place] = last
            self._cache.move(len(self.active), place, last.held)
        return row


class Decoder:
    """Writes replies with one model; ``batcher.limit`` rows at most are written at once.

    ``prefixes`` is where what many prompts begin with is kept.
    """

    def __init__(self, model: Any, prefixes: PrefixCache, batcher: Batcher) -> None:
        self._model = model
        self._prefixes = prefixes
        self._batcher = batcher

    def write(
        self, prompts: Sequence[list[int]], ending: Ending, sampler: Sampler
    ) -> list[ModelOutput | ModelError]:
        """Return each prompt's reply, in their order; ModelError where memory is too small.

        The longest come first, so that memory runs out early or never. When it does, half as many
        rows are written from then on, and those that were not done begin again.
        """
        import torch

        results: list[ModelOutput | ModelError | None] = [None] * len(prompts)
        while todo := [i for i, result in enumerate(results) if result is None]:
            todo.sort(key=lambda i: -len(prompts[i]))
            rows = _Rows(self._model, self._prefixes, min(self._batcher.limit, len(todo)))
            waiting = [_Row(i, prompts[i], sampler.generator(prompts[i])) for i in todo]
            try:
                with torch.inference_mode():
                    self._write(rows, waiting, ending, sampler, results)
                continue
            except Exception as error:
                if not out_of_memory(error):
                    raise
            # outside the handler: the traceback holds the tensors that must go first
            active = [row.index for row in rows.active]
            del rows
            self._prefixes.clear()
            empty_cache()
            self._batcher.limit = max(1, len(active) // 2)
            if len(active) == 1:
                results[active[0]] = ModelError(
                    "out of memory for this prompt alone", fix="Use a smaller model"
                )
        return [result for result in results if result is not None]

    def _write(
        self,
        rows: _Rows,
        waiting: list[_Row],
        ending: Ending,
        sampler: Sampler,
        results: list[ModelOutput | ModelError | None],
    ) -> None:
        places = min(self._batcher.limit, len(waiting))
        while waiting or rows.active:
            if waiting and (free := places - len(rows.active)):
                rows.join(waiting[:free])
                del waiting[:free]
            scores = sampler.scores(rows.logits(), [row.generator for row in rows.active])
            for row, token in zip(rows.active, scores.argmax(-1).tolist(), strict=True):
                row.written.append(token)
            for place in reversed(range(len(rows.active))):
                if ending.over(rows.active[place].written):
                    row = rows.leave(place)
                    results[row.index] = ending.output(len(row.prompt), row.written)


def can_decode(model: Any) -> bool:
    """Tell whether a model that can share prefixes can also be stepped with rows of any length.

    Tried on the model itself: two rows, of which one leaves, must get the scores that each has
    alone.
    """
    try:
        return _agrees(model)
    except Exception as error:  # whatever an unusual architecture raises
        log.info("%s is not stepped: %s", type(model).__name__, error)
        return False


def _agrees(model: Any) -> bool:
    import torch

    ids = [i % model.config.get_text_config().vocab_size for i in (5, 9, 13, 17, 21, 25, 29)]
    rows = _Rows(model, PrefixCache(model), 2)
    tolerance = 1e-3 if model.dtype == torch.float32 else 0.1
    with torch.inference_mode():
        rows.join([_Row(0, ids[:2]), _Row(1, ids[1:6])])
        for token in ids[:3]:
            found = torch.log_softmax(rows.logits().float(), dim=-1)
            for row, logprobs in zip(rows.active, found, strict=True):
                text = torch.tensor([row.prompt + row.written], device=model.device)
                alone = model(input_ids=text, use_cache=False).logits[0, -1].float()
                likely = torch.log_softmax(alone, dim=-1).topk(min(5, len(alone)))
                if (logprobs[likely.indices] - likely.values).abs().max() > tolerance:
                    return False
                row.written.append(token)
            if token == ids[1]:
                rows.leave(0)
    return True
