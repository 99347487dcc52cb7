"""What is installed, and which optional parts are not."""

from __future__ import annotations

__all__ = ["packages", "plugins", "torch_without_gpu"]

import platform
from collections.abc import Iterable, Iterator
from importlib import metadata

from packaging.requirements import Requirement

from pytest_evalplug.doctor.check import Check, ok, problem, warn

_SELF = "pytest-evalplug"
_SHOWN = ("pytest", "pytest-xdist", "datasets", "torch", "transformers")
_FOR_DEVELOPERS = ("dev", "docs")
_PLUGINS = {
    "pytest-timeout": (
        "a sample's time includes the wait for the model: bound that by --eval-sample-timeout, and "
        "give --timeout enough for a whole batch"
    ),
    "pytest-rerunfailures": "--reruns scores a wrong answer again, the model is not asked again",
    "pytest-randomly": "the order changes, no score does",
    "pytest-repeat": "--count repeats the scoring; repeats=N of a benchmark asks the model N times",
}
"""What plugins that many have do to an evaluation."""


def packages() -> Iterator[Check]:
    """Say the versions, whether they fit, and how to install what is not there."""
    shown = {name: _version(name) for name in (_SELF, *_SHOWN)}
    yield ok(
        "versions",
        ", ".join([f"python {platform.python_version()}", *_named(shown)]),
    )
    wanted = _requirements()
    for requirement in wanted.pop("", []):
        yield from _misfit(requirement)
    missing = {extra: lacking for extra, needed in wanted.items() if (lacking := _lacking(needed))}
    there = [extra for extra in wanted if extra not in missing]
    texts = [f"{', '.join(there)} installed"] if there else []
    if missing:
        command = f"pip install '{_SELF}[{','.join(missing)}]'"
        texts.append(f"{', '.join(missing)} not (where needed: {command})")
    yield ok("extras", "; ".join(texts))


def plugins() -> Iterator[Check]:
    """Say which pytest plugins run along, and what those do that are known to matter."""
    found = {
        entry.dist.name: entry.dist.version
        for entry in metadata.entry_points(group="pytest11")
        if entry.dist is not None and entry.dist.name != _SELF
    }
    yield ok("plugins", ", ".join(_named(found)) or "no other")
    for name in sorted(found.keys() & _PLUGINS.keys()):
        yield ok(name, _PLUGINS[name])


def _requirements() -> dict[str, list[Requirement]]:
    """Return what the core needs (``""``) and what each extra needs."""
    wanted: dict[str, list[Requirement]] = {}
    every = [Requirement(text) for text in metadata.requires(_SELF) or ()]
    for extra in ("", *sorted(metadata.metadata(_SELF).get_all("Provides-Extra") or ())):
        if extra not in _FOR_DEVELOPERS:
            wanted[extra] = [
                requirement
                for requirement in every
                if _applies(requirement, extra) and not (extra and _applies(requirement, ""))
            ]
    return wanted


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _lacking(needed: Iterable[Requirement]) -> list[Requirement]:
    return [r for r in needed if r.name != _SELF and not _fits(r)]


def _fits(requirement: Requirement) -> bool:
    version = _version(requirement.name)
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def _misfit(requirement: Requirement) -> Iterator[Check]:
    if not _fits(requirement):
        version = _version(requirement.name) or "not installed"
        fix = f"pip install '{requirement}'"
        yield problem("versions", f"{requirement.name} is {version}", fix)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _named(versions: dict[str, str | None] | dict[str, str]) -> list[str]:
    return [f"{name} {version}" for name, version in versions.items() if version]


def torch_without_gpu() -> Check | None:
    """Say so where torch is built for the CPU only."""
    version = _version("torch")
    if version is None or "+cpu" not in version:
        return None
    return warn("torch", f"{version} can't use the GPU", "Install torch for CUDA (pytorch.org)")
