"""A user's own file of questions, as a benchmark without a module.

The columns are those of OpenCompass's custom datasets: ``question``, ``A``, ``B``, ..., ``answer``
for multiple choice (``mcq``), ``question``, ``answer`` for a free answer (``qa``). What else that
tool would be told in ``<file>.meta.json`` is read from there too, as far as it means something.
"""

from __future__ import annotations

__all__ = ["CustomData", "benchmark_of", "find_custom"]

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.custom_rows import Choices, Questions, kind_of
from pytest_evalplug.dataset.meta import BenchmarkMeta, register_benchmark
from pytest_evalplug.dataset.readers import EXTENSIONS
from pytest_evalplug.dataset.tags import Tags
from pytest_evalplug.errors import ConfigError, DataError

Kind: TypeAlias = Literal["mcq", "qa"]
Infer: TypeAlias = Literal["gen", "ppl"]

_NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]*)=(?P<path>.+)", re.DOTALL)
_META = {
    "abbr": str,
    "data_type": str,
    "infer_method": str,
    "input_columns": list,  # all columns are there anyway
    "options": list,
    "output_column": str,
}


@dataclass(frozen=True)
class CustomData:
    """A file, or a folder of files, that is a benchmark called ``name``."""

    name: str
    path: Path
    kind: Kind
    infer: Infer | None = None
    """The mode that the file asks for, where nobody else says one."""
    answer: str = "answer"
    """The column of the references."""
    options: tuple[str, ...] = ()
    """The columns of the choices; where there are none, the letters from A on that are columns."""

    @property
    def files(self) -> dict[str, Path]:
        """Each subset's file: one for all, or those of the folder by their names."""
        return _files(self.path)

    def to_wire(self) -> dict[str, Any]:
        """Return plain types."""
        return {**vars(self), "path": str(self.path), "options": list(self.options)}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CustomData:
        """Rebuild what :meth:`to_wire` described."""
        return cls(**{**wire, "path": Path(wire["path"]), "options": tuple(wire["options"])})


def split_name(text: str) -> tuple[str, str]:
    """Return name and path of ``NAME=PATH``; of a path alone the name is empty."""
    named = _NAMED.fullmatch(text)
    return (named["name"], named["path"]) if named else ("", text)


def find_custom(text: str, kind: Kind | None) -> CustomData:
    """Return what ``[NAME=]PATH`` means, all of its rows readable as Samples.

    Without a ``kind`` the file's ``.meta.json`` or its columns decide. Raises ConfigError for a
    path that is none and for files of both kinds, and what reading raises, DataError with file
    and line.
    """
    name, place = split_name(text)
    path = Path(place)
    files = _files(path)
    if not files:
        raise ConfigError(
            f"there is no {'data in the folder' if path.is_dir() else 'file'} {place}",
            where="--eval-custom",
            fix=f"Give a file, or a folder of files: .{', .'.join(EXTENSIONS)}",
        )
    meta = _meta(path)
    answer = meta.get("output_column", "answer")
    said: Kind | None = kind or meta.get("data_type") or ("mcq" if meta.get("options") else None)
    data = CustomData(
        name=name or meta.get("abbr") or _name(path),
        path=path,
        kind=said or _kind(path, files.values(), answer),
        infer=meta.get("infer_method"),
        answer=answer,
        options=tuple(meta.get("options", ())),
    )
    adapter = benchmark_of(data)(options=AdapterOptions(where="--eval-custom"))
    for subset in adapter.subsets():
        adapter.samples(subset)
    return data


def benchmark_of(data: CustomData) -> type[DefaultDataAdapter]:
    """Return the benchmark's class. Raises ConfigError for a name that none can have."""
    base = Choices if data.kind == "mcq" else Questions
    meta = BenchmarkMeta(
        name=data.name,
        description=f"The questions in {data.path.name}.",
        tags=[Tags.CUSTOM],
        subset_list=[*data.files],
        metric_list=["accuracy" if data.kind == "mcq" else "exact_match"],
    )
    cls = type(data.name, (base,), {"data": data, "__module__": f"evalplug_custom_{data.name}"})
    return register_benchmark(meta)(cls)


def _files(path: Path) -> dict[str, Path]:
    if path.is_file():
        return {"default": path}
    if not path.is_dir():
        return {}
    files: dict[str, Path] = {}
    for file in sorted(path.iterdir()):
        if file.suffix.lower().lstrip(".") in EXTENSIONS and not file.name.endswith(".meta.json"):
            other = files.setdefault(file.stem, file)
            if other is not file:
                raise ConfigError(
                    f"{other.name} and {file.name} would both be the subset {file.stem!r}",
                    where=str(path),
                    fix="Rename one of them",
                )
    return files


def _name(path: Path) -> str:
    """Return a name that a benchmark may have."""
    name = path.stem if path.is_file() else path.name
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-") or "custom"


def _kind(path: Path, files: Iterable[Path], answer: str) -> Kind:
    """Return what the columns of all files say. Raises ConfigError where they differ."""
    kinds: dict[Kind, Path] = {}
    for file in files:
        if kind := kind_of(file, answer):
            kinds.setdefault(kind, file)
    if len(kinds) > 1:
        raise ConfigError(
            f"{kinds['mcq'].name} has choices (mcq), {kinds['qa'].name} free answers (qa)",
            where=str(path),
            fix="Put them into a folder each, or say --eval-custom-type",
        )
    return next(iter(kinds), "qa")


def _meta(path: Path) -> dict[str, Any]:
    """Return what stands in ``<path>.meta.json``, checked."""
    file = path.with_name(f"{path.name}.meta.json")
    if not file.is_file():
        return {}
    try:
        meta = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"not readable as JSON: {error}", where=str(file)) from None
    if not isinstance(meta, dict):
        raise DataError("a JSON object is needed", where=str(file))
    for key, value in meta.items():
        if key not in _META:
            raise DataError(
                f"{key!r} has no meaning here",
                where=str(file),
                fix=f"Known: {', '.join(_META)}. A prompt: --eval-set NAME.prompt_template=...",
            )
        choices = {"data_type": get_args(Kind), "infer_method": get_args(Infer)}.get(key)
        if not isinstance(value, _META[key]) or (choices and value not in choices):
            accepted = f"one of {', '.join(choices)}" if choices else f"a {_META[key].__name__}"
            raise DataError(f"{key} is {value!r}, not {accepted}", where=str(file))
    return cast(dict[str, Any], meta)
