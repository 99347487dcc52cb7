"""The files that a new benchmark begins with."""

from __future__ import annotations

__all__ = ["KINDS", "check_free", "copied_files", "new_files", "write_files"]

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_evalplug.dataset.catalogue import Entry, find_all
from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.errors import ConfigError

KINDS = ("qa", "mcq")
_TEMPLATES = Path(__file__).with_name("templates")


def new_files(name: str, kind: str) -> dict[str, str]:
    """Return module, test and three rows of data of a benchmark, place -> text.

    ``kind`` is ``qa`` (a free, short answer) or ``mcq`` (one of several choices). Raises
    ConfigError for a name that a benchmark can't have.
    """
    words = _words(name)
    return {
        f"{words['MODULE']}.py": _template(f"{kind}/benchmark.py.template", words),
        f"{words['MODULE']}_rules.py": _template(f"{kind}/rules.py.template", words),
        f"data/{name}/test.jsonl": _template(f"{kind}/test.jsonl", {}),
    }


def copied_files(name: str, entry: Entry) -> dict[str, str]:
    """Return the module of a benchmark under another name, and a test of it, place -> text.

    The module's other benchmarks are renamed as well, and all read the data of the original;
    what lies beside the module is copied too. Raises ConfigError as :func:`new_files`.
    """
    words = _words(name)
    siblings = {other.name: other for other in find_all([entry.path])}
    words["CLASSES"] = ", ".join(other.cls.__name__ for other in siblings.values())
    files = {
        f"{words['MODULE']}.py": _renamed(entry, name, siblings),
        f"{words['MODULE']}_rules.py": _template("copy/rules.py.template", words),
    }
    for other in siblings.values():
        beside = entry.path.parent / other.meta.dataset_id
        for path in sorted(beside.rglob("*.*")) if other.meta.dataset_id else ():
            place = path.relative_to(entry.path.parent).as_posix()
            files[place] = path.read_text(encoding="utf-8")
    return files


def check_free(name: str) -> None:
    """Raise ConfigError for the name of a shipped benchmark: its data would be read instead."""
    shipped = find_all()
    if name in {word for entry in shipped for word in (entry.name, entry.meta.data_name)}:
        raise ConfigError(
            f"{name!r} is a shipped benchmark, whose data a data directory may hold",
            fix="Choose another name (--from copies the shipped one)",
        )


def write_files(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the files and return their paths.

    Raises ConfigError if one is there already, or if one can't be written; then none is left.
    """
    written: list[Path] = []
    path = folder
    try:
        if folder.is_file():
            raise ConfigError("is a file", where=str(folder), fix="Name a folder")
        for path in (folder / place for place in files):
            if path.exists():
                raise ConfigError("is there already", where=str(path), fix="Choose another name")
        for place, text in files.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            written.append(path)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        for path_made in written:
            with suppress(OSError):
                path_made.unlink()
        raise ConfigError(
            f"can't be written: {error.strerror or error}",
            where=str(path),
            fix="Choose another folder or a shorter name",
        ) from error
    return written


def _words(name: str) -> dict[str, str]:
    BenchmarkMeta(name=name)  # which names are good is for it to say
    parts = [part for part in re.split(r"[_.-]+", name) if part]
    return {
        "NAME": name,
        "TITLE": " ".join([parts[0].capitalize(), *parts[1:]]),
        "CLASSES": "",
        "CLASS": "Test" + "".join(part[0].upper() + part[1:] for part in parts),
        "MODULE": "test_" + re.sub(r"[.-]", "_", name),
    }


def _template(place: str, words: Mapping[str, str]) -> str:
    text = (_TEMPLATES / place).read_text(encoding="utf-8")
    known = "|".join(words)
    return re.sub(rf"\b({known})\b", lambda match: words[match[0]], text) if words else text


def _renamed(entry: Entry, name: str, siblings: Mapping[str, Entry]) -> str:
    """Return the module's text with the benchmarks' names changed, and no others."""
    lines = entry.path.read_text(encoding="utf-8").split("\n")
    for keyword, has_data_name in reversed(list(_named(ast.parse("\n".join(lines))))):
        old = siblings.get(ast.literal_eval(keyword.value))
        if old is None:
            continue
        text = f'"{_new_name(old.name, entry.name, name)}"'
        line = lines[keyword.lineno - 1].encode()
        start, end = line[: keyword.value.col_offset], line[keyword.value.end_col_offset :]
        if not has_data_name:
            before = start[: keyword.col_offset].decode()
            gap = " " if before.strip() else f"\n{before}"
            text += f',{gap}data_name="{old.meta.data_name or old.name}"'
        lines[keyword.lineno - 1] = (start + text.encode() + end).decode()
    return "\n".join(lines)


def _new_name(old: str, copied: str, name: str) -> str:
    """Return what a benchmark of the module is called now (``gsm8k_0shot``: ``<name>_0shot``)."""
    return name + (old.removeprefix(copied) if old.startswith(copied) else f"_{old}")


def _named(module: ast.Module) -> Iterator[tuple[ast.keyword, bool]]:
    """Yield each text ``name=`` of a call, in order, and whether it has a ``data_name=`` too."""
    calls = (node for node in ast.walk(module) if isinstance(node, ast.Call))
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        given = {keyword.arg: keyword for keyword in call.keywords}
        if "name" in given and isinstance(given["name"].value, ast.Constant):
            yield given["name"], "data_name" in given
