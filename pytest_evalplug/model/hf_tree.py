"""Likelihoods of texts that begin alike: every token that they share is computed once.

The inputs of a batch form a tree. Its tokens are laid out in one sequence, each attends to its own
ancestors only, and so gets the hidden state that it would have in a row of its own: nothing is
padded, a question is read once for all of its choices, and the few-shot header once for all
questions, also of later batches, whose keys and values are kept.
"""

from __future__ import annotations

__all__ = ["TreeScorer", "can_share"]

import inspect
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.base import Choice
from pytest_evalplug.model.hf_batches import empty_cache, out_of_memory
from pytest_evalplug.model.hf_prefix import PrefixCache, cache_parameter, shared_length
from pytest_evalplug.model.scored import Scored

log = logging.getLogger("pytest_evalplug.model")

_TOKENS = 1536
"""New tokens of a forward pass: enough to use the processor well, few enough that attention
between unrelated texts, which is computed and masked, costs little."""
_ENOUGH = 512
"""New tokens that are worth a forward pass of their own."""


@dataclass(slots=True)
class _Tree:
    """Tokens in depth-first order, behind ``start`` tokens that all of them follow."""

    start: int
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """The place of each token's parent, -1 for one that follows the common start."""
    paths: list[list[int]] = field(default_factory=list)
    """The places of each row's tokens."""
    _places: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, ids: Sequence[int]) -> None:
        """Add a row, given without the common start."""
        parent, path = -1, []
        for token in ids:
            place = self._places.setdefault((parent, token), len(self.tokens))
            if place == len(self.tokens):
                self.tokens.append(token)
                self.parents.append(parent)
            path.append(place)
            parent = place
        self.paths.append(path)


class TreeScorer:
    """Scores rows with one model; keeps the beginnings that later rows may share.

    ``max_logits`` bounds the positions whose logits are held at once; ``prefixes`` is where what
    many rows begin with is kept.
    """

    def __init__(self, model: Any, max_logits: int, prefixes: PrefixCache | None = None) -> None:
        self._model = model
        self._prefixes = prefixes or PrefixCache(model)
        self._max_logits = max(1, max_logits)
        self._budget = _TOKENS

    def score(self, rows: Sequence[Scored]) -> list[Choice | ModelError]:
        """Return each row's score, in their order; ModelError for one that memory is too small for.

        A batch that runs out of memory is tried again with half the tokens.
        """
        results: list[Choice | ModelError] = [ModelError("not computed")] * len(rows)
        todo = sorted(range(len(rows)), key=lambda i: rows[i].ids)
        while todo:
            tree = self._grow([rows[i] for i in todo])
            batch = todo[: len(tree.paths)]
            scores = self._attempt(tree, [rows[i] for i in batch])
            if scores is None:
                continue
            for i, score in zip(batch, scores, strict=True):
                results[i] = score
            todo = todo[len(batch) :]
        return results

    def close(self) -> None:
        """Let go of the model and what is kept."""
        self._model = None
        self._prefixes.clear()

    def _grow(self, rows: Sequence[Scored]) -> _Tree:
        """Return a tree of the first of the sorted rows: one at least, and what fits with it.

        Rows with another beginning are left to a batch that can keep theirs, if this one is not
        too small by then.
        """
        first = rows[0]
        start = min(self._prefixes.longest(first.ids), len(first.ids) - len(first.target))
        tree, logits, before = _Tree(start), 0, first
        trunk = len(first.ids)  # what the rows of the present beginning share
        for row in rows:
            logits += len(row.target)
            near = shared_length(before.ids, row.ids)
            if tree.paths and (
                min(near, len(row.ids) - len(row.target)) < start
                or len(tree.tokens) + len(row.ids) - near > self._budget + trunk - start
                or logits > self._max_logits
                or (2 * near < trunk and len(tree.tokens) >= _ENOUGH)
            ):
                break
            tree.add(row.ids[start:])
            trunk = len(row.ids) if 2 * near < trunk else min(trunk, near)
            before = row
        return tree

    def _attempt(self, tree: _Tree, rows: Sequence[Scored]) -> list[Choice | ModelError] | None:
        """Return the scores, or None after lowering the budget."""
        try:
            return list(self._compute(tree, rows))
        except Exception as error:
            if not out_of_memory(error):
                raise
        # outside the handler: the traceback holds the tensors that must go first
        self._prefixes.clear()
        empty_cache()
        if len(rows) == 1:
            return [ModelError("out of memory for this prompt alone", fix="Use a smaller model")]
        self._budget = max(1, len(tree.tokens) // 2)
        return None

    def _compute(self, tree: _Tree, rows: Sequence[Scored]) -> Iterator[Choice]:
        import torch

        needed = [
            path[len(path) - len(r.target) :] for path, r in zip(tree.paths, rows, strict=True)
        ]
        places = sorted({place for path in needed for place in path})
        if not places:  # texts of one token: nothing is predicted
            yield from [Choice(0.0, 0, True)] * len(rows)
            return
        with torch.inference_mode():
            logits, cache = self._forward(tree, rows[0].ids[: tree.start], places)
            self._keep(rows, cache)
            row_of = {place: n for n, place in enumerate(places)}
            chosen = torch.tensor([row_of[place] for path in needed for place in path])
            targets = torch.tensor([token for row in rows for token in row.target])
            chosen, targets = chosen.to(logits.device), targets.to(logits.device)
            total = torch.logsumexp(logits, dim=-1)
            logprobs = (logits[chosen, targets] - total[chosen]).double().tolist()
            greedy = (logits.argmax(-1)[chosen] == targets).tolist()
        position = 0
        for row in rows:
            end = position + len(row.target)
            yield Choice(sum(logprobs[position:end]), end - position, all(greedy[position:end]))
            position = end

    def _forward(self, tree: _Tree, start: tuple[int, ...], places: list[int]) -> tuple[Any, Any]:
        """Return the float32 logits at ``places``, places x vocabulary, and the cache."""
        import torch

        device, dtype = self._model.device, self._model.dtype
        cache = self._prefixes.of(start)
        positions, mask = _layout(tree, dtype)
        output = self._model(
            input_ids=torch.tensor([tree.tokens], device=device),
            position_ids=positions.to(device),
            attention_mask=mask.to(device),
            logits_to_keep=torch.tensor(places),  # the last layer may be on another device
            use_cache=True,
            **{cache_parameter(self._model): cache},
        )
        return output.logits[0].float(), cache

    def _keep(self, rows: Sequence[Scored], cache: Any) -> None:
        """Keep what all rows begin with, where that is more than a question."""
        end = shared_length(rows[0].ids, rows[-1].ids)
        contexts = {row.ids[: len(row.ids) - len(row.target) + 1] for row in rows}
        if len(contexts) > 1:
            self._prefixes.keep(rows[0].ids[:end], cache)


def can_share(model: Any) -> bool:
    """Tell whether a model's attention can be told who sees whom.

    Tried on the model itself: two texts with a common beginning must get the scores that each has
    alone. Sliding windows, recurrent layers and attention kernels without a mask can't.
    """
    config = model.config.get_text_config()
    types = set(getattr(config, "layer_types", None) or ["full_attention"])
    if types != {"full_attention"} or getattr(config, "sliding_window", None):
        return False
    if getattr(config, "_attn_implementation", "") not in ("sdpa", "eager"):
        return False
    if "logits_to_keep" not in inspect.signature(model.forward).parameters:
        return False
    try:
        return _agrees(model)
    except Exception as error:  # whatever an unusual architecture raises
        log.info("%s does not share prefixes: %s", type(model).__name__, error)
        return False


def _agrees(model: Any) -> bool:
    import torch

    ids = [i % model.config.get_text_config().vocab_size for i in (5, 9, 13, 17, 21, 25, 29)]
    rows = [Scored(tuple(ids[:5]), tuple(ids[4:6])), Scored(tuple(ids[:3] + ids[5:]), (ids[0],))]
    together = TreeScorer(model, 100).score(rows)
    tolerance = 1e-3 if model.dtype == torch.float32 else 0.1
    for row, shared in zip(rows, together, strict=True):
        with torch.inference_mode():
            output = model(input_ids=torch.tensor([row.ids], device=model.device), use_cache=False)
        logprobs = torch.log_softmax(output.logits[0, -len(row.target) :].float(), dim=-1)
        alone = sum(float(logprobs[n, token]) for n, token in enumerate(row.target))
        if not isinstance(shared, Choice) or abs(shared.logprob - alone) > tolerance:
            return False
    return True


def _layout(tree: _Tree, dtype: Any) -> tuple[Any, Any]:
    """Return position ids, 1 x tokens, and the mask to add, 1 x 1 x tokens x all keys."""
    import torch

    count = len(tree.tokens)
    seen = torch.zeros((count, count), dtype=torch.bool)
    depths: list[int] = []
    for place, parent in enumerate(tree.parents):
        if parent >= 0:
            seen[place] = seen[parent]
        seen[place, place] = True
        depths.append(depths[parent] + 1 if parent >= 0 else tree.start)
    mask = torch.zeros((1, 1, count, tree.start + count), dtype=dtype)
    mask[0, 0, :, tree.start :].masked_fill_(~seen, torch.finfo(dtype).min)
    return torch.tensor([depths]), mask
