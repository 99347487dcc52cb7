"""``evalplug merge``: shards joined, scored as one run, and shown."""

from __future__ import annotations

__all__ = ["merge_runs"]

import importlib.util
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, DataError, StorageError, one_line
from pytest_evalplug.finish import Outcome, finish
from pytest_evalplug.options import RunConfig, model_tables
from pytest_evalplug.report.gates import gate_lines
from pytest_evalplug.report.header import short_path
from pytest_evalplug.report.junit import write_junit
from pytest_evalplug.report.outputs import junit_file, write_outputs
from pytest_evalplug.report.text import clean
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.merging import Shard, find_shards, join_shards
from pytest_evalplug.stash import MANIFEST
from pytest_evalplug.wire import Manifest

_DUMPS = ("dump_extract_rate", "dump_res_length", "dump_eval_details")
_BASELINE = ("baseline", "max_drop", "significance")


def merge_runs(folders: Sequence[Path], options: Sequence[str]) -> int:
    """Join the shards in ``folders`` into a new run, score it, and return the exit status.

    It is 0, or 1 where a gate is not reached. ``options`` are pytest's; its ini file, the
    benchmarks' conftests and ``[tool.evalplug]`` count as in a session, but no item is run. Raises
    EvalplugError if the runs don't belong together.
    """
    shards = find_shards(folders)
    manifest = Manifest.joined([_manifest(shard) for shard in shards])
    here = _Modules(folders)
    manifest.modules = {name: here.find(*entry) for name, entry in manifest.modules.items()}
    files = dict.fromkeys(file for _, file, _, _ in manifest.modules.values())
    merge = _Merge(shards, manifest)
    # no assertion is rewritten: pytest would warn that this package is imported already
    arguments = ["--assert=plain", "-p", "no:cacheprovider", *options, *files]
    status = int(pytest.main(arguments, plugins=[merge]))
    return 2 if status == pytest.ExitCode.USAGE_ERROR else status


def _manifest(shard: Shard) -> Manifest:
    path = shard.path / "journal" / MANIFEST
    try:
        manifest = Manifest.read(path)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"damaged: {error}", where=str(path)) from error
    if not manifest.parts:
        raise DataError(
            "not a whole run directory: it lacks journal/manifest.json",
            where=str(shard.path),
            fix="Keep everything in it, journal/ too",
        )
    return manifest


class _Modules:
    """Finds the benchmarks' modules on this machine, where the shards may have had other places.

    One that lies in the folders that are merged is not imported: they hold data, from anywhere.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._data = [
            path for folder in folders if not Path.cwd().is_relative_to(path := folder.resolve())
        ]

    def find(self, module: str, file: str, root: str, name: str) -> list[str]:
        """Return an entry of a manifest as it is here. Raises ConfigError."""
        there = Path(file)
        ends = (Path(*there.parts[start:]) for start in range(1, len(there.parts)))
        places = (there, *(Path.cwd() / end for end in ends))
        path = next(filter(self._is_code, places), None) or _installed(module)
        if path is None:
            raise ConfigError(
                f"the benchmarks' module {file} is not here",
                fix="Call it where pytest was called",
            )
        below_root = len(there.parts) - len(Path(root).parts)
        return [module, str(path), str(path.parents[below_root - 1]), name]

    def _is_code(self, path: Path) -> bool:
        return path.exists() and not any(map(path.resolve().is_relative_to, self._data))


def _installed(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:  # of a package that it would be in
        return None
    return Path(spec.origin) if spec and spec.origin else None


class _Merge:
    """Takes the place of a session, once pytest has read its configuration."""

    def __init__(self, shards: Sequence[Shard], manifest: Manifest) -> None:
        self._shards = shards
        self._manifest = manifest
        self._started = datetime.now()

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        """Merge, and return the exit status."""
        settings = _settings(config, self._shards[0])
        run = RunDirectory.create(settings.work_dir)
        try:
            join_shards(self._shards, run, ["evalplug merge", *map(str, self._paths)])
        except BaseException:
            run.close()
            shutil.rmtree(run.path)
            raise
        with run:
            outcome = finish(settings, run, self._manifest, None)
            outcome.notes += [*self._missing(), *self._held_to_others(settings)]
            config.hook.pytest_evalplug_finished(config=config, outcome=outcome)
            status = self._write(config, settings, outcome)
        _show(outcome)
        return status

    @property
    def _paths(self) -> list[Path]:
        return [shard.path for shard in self._shards]

    def _missing(self) -> Iterator[str]:
        """Yield which shards are not there, if the run lacks samples."""
        count = self._shards[0].place[1]
        there = {shard.place[0] for shard in self._shards}
        missing = [f"{n}/{count}" for n in range(1, count + 1) if n not in there]
        whole = all(len(part.indices) == part.available for part in self._manifest.parts)
        if missing and not whole:
            yield f"missing shards: {', '.join(missing)}"

    def _held_to_others(self, settings: RunConfig) -> Iterator[str]:
        """Yield which of the shards' requirements differ, where nothing else is said now."""
        for option, names in (("gate", ("gates",)), ("baseline", _BASELINE)):
            found = [[shard.snapshot.get(name) for name in names] for shard in self._shards]
            if option not in settings.given and any(f != found[0] for f in found):
                yield f"--eval-{option}: the shards had different ones; the first one's count"

    def _write(self, config: pytest.Config, settings: RunConfig, outcome: Outcome) -> int:
        failed = sum(gate.outcome == "failed" for gate in outcome.gates)
        status = int(bool(failed or outcome.failed))
        reason = f"failed gates: {failed}" if failed else "incomplete" if status else "passed"
        write_outputs(
            settings,
            outcome,
            junit=None,
            started=self._started,
            exit={"status": status, "reason": reason, "failed_gates": failed},
        )
        junit = junit_file(config)
        if junit is not None and outcome.table is not None:
            strict = settings.junit == "strict"
            try:
                write_junit(junit, outcome.table, outcome.gates, strict=strict)
            except StorageError as error:
                outcome.fail(f"--junitxml: {error}")
        return int(bool(status or outcome.failed))


def _settings(config: pytest.Config, shard: Shard) -> RunConfig:
    """Return what the shards were run with, where nothing else is said now.

    Raises DataError if the snapshot lacks some of it.
    """
    try:
        return _following(config, shard.snapshot | {"shard": None})
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        where = str(shard.path / "configs")
        raise DataError(f"damaged snapshot: {one_line(error)}", where=where) from error


def _following(config: pytest.Config, snapshot: dict[str, Any]) -> RunConfig:
    now = RunConfig.from_pytest(config).following(snapshot, model_tables(config))
    kept: dict[str, Any] = {name: snapshot[name] for name in ("stage", *_DUMPS)}
    if "gate" not in now.given:
        kept["gates"] = tuple(snapshot["gates"])
    if "baseline" not in now.given:
        kept |= {name: snapshot[name] for name in _BASELINE}
    return replace(now, **kept, saved=tuple(snapshot["models"] or snapshot["saved"]), models=())


def _show(outcome: Outcome) -> None:
    if outcome.table is not None:
        print(outcome.table.text())
    lines = [*gate_lines(outcome.gates), *map(clean, outcome.notes)]
    print("", *lines, *([""] if lines else []), sep="\n", end="")
    print(f"merged run in {short_path(outcome.run.path)}")
    if outcome.page is not None:
        print(f"report: {short_path(outcome.page)}")
