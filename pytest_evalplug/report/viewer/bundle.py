"""The page itself: styles and modules in one HTML file that loads nothing."""

from __future__ import annotations

__all__ = ["content_security_policy", "modules", "page", "script", "style"]

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"
DATA = "<!-- data -->"
_IMPORT = re.compile(r'^import (?:[^;"]* from )?"\./([\w/.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|let|function|async|class)", re.MULTILINE)
_DEFINED = re.compile(r"^(?:const|let|function\*?|async function\*?|class) (\w+)", re.MULTILINE)


def page(blocks: Iterable[tuple[str, str]] = (), *, connect: str = "'none'") -> Iterator[str]:
    """Yield the page's text; ``blocks`` are names and base64 texts of gzipped JSON.

    They stand in elements that no browser runs, and base64 has no letter that could end one.
    ``connect`` is where the page may get more from, as a content security policy says it.
    """
    head, tail = _frame(connect)
    yield head
    for name, text in blocks:
        yield f'<script type="application/gzip" id="data:{name}">{text}</script>\n'
    yield tail


def content_security_policy(connect: str) -> str:
    """Return the policy under which the page runs: only its own script and style."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_source_hash(script())}'",
            f"style-src '{_source_hash(style())}'",
            "img-src data:",
            f"connect-src {connect}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


@cache
def style() -> str:
    """Return all style sheets, in the order of their names."""
    return "\n".join(read(path) for path in sorted((STATIC / "css").glob("*.css")))


@cache
def script() -> str:
    """Return all modules as one, each behind those that it imports."""
    return modules("main.js")


def modules(*names: str) -> str:
    """Return modules and what they import as the text of one module.

    They share one scope there, so a name may be defined at the top of one of them only. Raises
    ValueError for a second.
    """
    found: dict[str, str] = {}
    for name in names:
        _collect(name, found)
    owners: dict[str, str] = {}
    for module, text in found.items():
        for defined in _DEFINED.findall(text):
            if defined in owners:
                raise ValueError(f"{defined} is defined in {owners[defined]} and in {module}")
            owners[defined] = module
    return "\n".join(found.values())


def _collect(name: str, found: dict[str, str], above: tuple[str, ...] = ()) -> None:
    if name in found:
        return
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join([*above, name])}")
    text = read(STATIC / "js" / name)
    for imported in _IMPORT.findall(text):
        _collect(imported, found, (*above, name))
    found[name] = f"// {name}\n{_EXPORT.sub('', _IMPORT.sub('', text))}"


def read(path: Path) -> str:
    """Return a static file's text."""
    return path.read_text(encoding="utf-8")


@cache
def _frame(connect: str) -> tuple[str, str]:
    text = read(STATIC / "index.html")
    for mark, content in (
        ("/* style */", style()),
        ("/* script */", script()),
        ("{{csp}}", content_security_policy(connect)),
    ):
        assert text.count(mark) == 1
        text = text.replace(mark, content)
    head, _, tail = text.rpartition(DATA)
    return head, tail


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
