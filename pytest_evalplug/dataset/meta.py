"""What a benchmark is, as data: :class:`BenchmarkMeta` and its decorator."""

from __future__ import annotations

__all__ = ["BenchmarkMeta", "register_benchmark"]

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from pytest_evalplug.errors import ConfigError, nearest
from pytest_evalplug.model.spec import check_generation

C = TypeVar("C", bound=type)

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, kw_only=True)
class BenchmarkMeta:
    """A benchmark's data sheet. Raises ConfigError for a value that can't be meant.

    Sequences are stored as tuples. ``prompt_template`` knows ``{question}`` (and, with choices,
    ``{choices}`` and ``{letters}``); ``few_shot_prompt_template`` also ``{fewshot}`` and
    ``{prompt}``, the prompt without shots.
    """

    name: str
    dataset_id: str = ""
    """A hub id, ``ms:<id>`` (ModelScope), or a path, relative to the benchmark's module."""
    revision: str | None = None
    """The hub revision: a commit keeps the numbers comparable."""
    data_name: str = ""
    """The folder in a data directory; ``name`` if not given. Benchmarks may share one."""
    pretty_name: str = ""
    description: str = ""
    """What is asked, in one English sentence."""
    description_zh: str = ""
    """The same in Chinese."""
    tags: Sequence[str] = ()
    paper_url: str = ""
    license: str = ""
    subset_list: Sequence[str] = ("default",)
    reformat_subset: bool = False
    """The subsets lie in one table and are told apart by ``Sample.subset_key``."""
    eval_split: str = "test"
    train_split: str | None = None
    """Where the shots come from."""
    few_shot_num: int = 0
    few_shot_random: bool = False
    """Draw the shots for each sample (by ``seed``) instead of taking the first ones."""
    few_shot_prompt_template: str | None = None
    prompt_header: str = ""
    """What stands above the shots and the question, in a template's placeholders."""
    prompt_template: str | None = None
    system_prompt: str | None = None
    choice_prompt_template: str | None = None
    """The context in ``ppl`` and ``ll`` mode; ``prompt_template`` if not given."""
    choice_template: str = " {letter}"
    """What follows the context in ``ppl`` and ``ll`` mode: ``{letter}`` and ``{choice}``."""
    metric_list: Sequence[Any] = ("accuracy",)
    eval_cfg: Mapping[str, Any] = field(default_factory=dict)
    generation: Mapping[str, Any] = field(default_factory=dict)
    """Fields of GenerationParams: ``max_tokens``, ``temperature``, ``stop``, ..."""
    shuffle: bool = False
    shuffle_choices: bool = False
    seed: int = 0
    repeats: int = 1
    """How often each sample is asked."""
    k: int | Sequence[int] = ()
    """Of how many of the repeats pass@k and G-Pass@k speak; of all where none is given."""
    threshold: float | None = None
    """From which score on (0-1) a sample counts as right, for metrics without a verdict."""
    reference_free: bool = False
    """The samples have no reference; the Evaluator works from the record."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", [self.k] if isinstance(self.k, int) else self.k)
        for name in ("tags", "subset_list", "metric_list", "k"):
            value = getattr(self, name)
            if not isinstance(value, (list, tuple)):
                raise self._wrong(name, f"is {value!r}", "Give a list.")
            object.__setattr__(self, name, tuple(value))
        if not isinstance(self.name, str) or not _SAFE_NAME.fullmatch(self.name):
            raise self._wrong("name", f"is {self.name!r}", "Use letters, digits, '_', '-' and '.'.")
        self._check_types()
        self._check_subsets()
        self._check_numbers()
        check_generation(self.generation, f"BenchmarkMeta {self.name!r}")

    def override(self, values: Mapping[str, Any]) -> BenchmarkMeta:
        """Return a copy with other fields; raises ConfigError for an unknown one.

        ``generation`` and ``eval_cfg`` are merged key by key, and a dotted name reaches into them
        (``generation.max_tokens``).
        """
        known = [f.name for f in fields(self) if f.name != "name"]
        changed: dict[str, Any] = {}
        for key, value in values.items():
            name, dot, inner = key.partition(".")
            if name not in known or (dot and name not in ("generation", "eval_cfg")):
                raise ConfigError(
                    f"benchmark {self.name!r} has no setting {key!r}", fix=nearest(key, known)
                )
            if name in ("generation", "eval_cfg"):
                new = {inner: value} if dot else value
                if not isinstance(new, Mapping):
                    raise self._wrong(name, f"is {value!r}", "Give a table.")
                changed[name] = {**changed.get(name, getattr(self, name)), **new}
            else:
                changed[name] = value
        return replace(self, **changed)

    def _check_types(self) -> None:
        for f in fields(self):
            accepted = _TYPES.get(str(f.type))
            value = getattr(self, f.name)
            # bool is an int to Python, not to us
            if accepted and (
                not isinstance(value, accepted) or (type(value) is bool and bool not in accepted)
            ):
                raise self._wrong(f.name, f"is {value!r}", f"Expected {f.type}.")

    def _check_subsets(self) -> None:
        for name in ("subset_list", "tags"):
            if not all(isinstance(v, str) and v for v in getattr(self, name)):
                raise self._wrong(name, f"is {getattr(self, name)!r}", "Give a list of names.")
        if not self.subset_list:
            raise self._wrong("subset_list", "is empty", "Leave it out for a single table.")
        twice = {s for s in self.subset_list if self.subset_list.count(s) > 1}
        if twice:
            raise self._wrong("subset_list", f"holds {min(twice)!r} twice", "Remove one.")
        if not self.eval_split:
            raise self._wrong("eval_split", "is empty", 'The default is "test".')

    def _check_numbers(self) -> None:
        if self.few_shot_num < 0:
            raise self._wrong("few_shot_num", f"is {self.few_shot_num}", "Use 0 for no shots.")
        if self.repeats < 1:
            raise self._wrong("repeats", f"is {self.repeats}", "Use 1 or more.")
        ks = [self.k] if isinstance(self.k, int) else self.k
        if not all(type(k) is int and k > 0 for k in ks):
            raise self._wrong("k", f"is {self.k!r}", "Give whole numbers from 1 on.")
        if 1 < self.repeats < max(ks, default=0):
            raise self._wrong(
                "k", f"is {max(ks)}, but repeats is {self.repeats}", "Ask more often, or set k too."
            )
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise self._wrong("threshold", f"is {self.threshold}", "Scores lie between 0 and 1.")

    def _wrong(self, name: str, what: str, fix: str) -> ConfigError:
        return ConfigError(f"{name} {what}", where=f"BenchmarkMeta {self.name!r}", fix=fix)


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str, type(None)),
    "int": (int,),
    "bool": (bool,),
    "float | None": (int, float, type(None)),
    "Mapping[str, Any]": (Mapping,),
}


def register_benchmark(meta: BenchmarkMeta) -> Callable[[C], C]:
    """Decorate an adapter class as a benchmark.

    Only attaches the metadata (``__evalplug_meta__``): importing a benchmark has no side effect;
    duplicate names are found per session, at collection.
    """

    def decorate(cls: C) -> C:
        setattr(cls, "__evalplug_meta__", meta)  # noqa: B010 - cls is any class
        return cls

    return decorate
