"""Errors that a user can act on.

EvalplugError
├── ConfigError        an option, an ini value, a model table, an eval_cfg
├── DataError          a dataset that is missing, malformed or lacks a column
├── StorageError       a file that can't be written: the disk is full, or read-only
├── ModelError         a reply that could not be had for one sample
│   ├── TooLongError      the prompt exceeds the model's context
│   ├── NoReplyError      it was sent, and there was no reply in time
│   ├── VerdictError      a judge's reply says nothing definite
│   └── FatalModelError   no further request to this backend can succeed
└── NotApplicable      the benchmark can't be run this way (a skip, not an error)

WrongAnswer            an AssertionError: the model's answer is wrong
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "DataError",
    "EvalplugError",
    "FatalModelError",
    "ModelError",
    "NoReplyError",
    "NotApplicable",
    "StorageError",
    "TooLongError",
    "VerdictError",
    "WrongAnswer",
    "nearest",
    "one_line",
]

from collections.abc import Iterable


class EvalplugError(Exception):
    """Something a user can mend: says what is wrong, where, and how to fix it.

    Rendered as one line, ``<where>: <what>. <fix>``.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(what, where, fix)

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.fix:
            text = f"{text.rstrip('.')}. {self.fix}"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.fix))


def _rebuild(cls: type[EvalplugError], what: str, where: str, fix: str) -> EvalplugError:
    return cls(what, where=where, fix=fix)


class ConfigError(EvalplugError):
    """An option, an ini value, a model table or an ``eval_cfg`` is wrong."""


class DataError(EvalplugError):
    """A dataset is missing, malformed, or lacks what the benchmark reads."""


class StorageError(EvalplugError):
    """A file can't be written; what a model is asked for from now on could not be kept."""


class ModelError(EvalplugError):
    """One sample got no reply; the other samples go on."""


class TooLongError(ModelError):
    """The prompt does not fit the model's context; it is never cut silently."""


class NoReplyError(ModelError):
    """The request was sent, and there was no reply in time; it may have to be paid all the same."""


class VerdictError(ModelError):
    """A judge was asked, twice, and what it said holds no verdict."""


class FatalModelError(ModelError):
    """The backend is unusable (wrong key, unknown model, server down): stop asking."""


class NotApplicable(EvalplugError):
    """The benchmark can't be run in this mode; reported as skipped, with the reason."""


class WrongAnswer(AssertionError):
    """The Evaluator calls the answer wrong. The text is what the report shows."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'? Known: x, y, z`` with the closest names first."""
    import difflib  # every pytest run imports this module

    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    rest = sorted(n for n in names if n not in close)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join([*close, *rest]) or 'none'}"


def one_line(text: BaseException | str, length: int = 200) -> str:
    """Return a text, or another library's error as its type and its text, on one line, cut."""
    line = " ".join(str(text).split())
    if len(line) > length:
        line = f"{line[: length - 3]}..."
    if isinstance(text, str):
        return line
    return f"{type(text).__name__}: {line}" if line else type(text).__name__
