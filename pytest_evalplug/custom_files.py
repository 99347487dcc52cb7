"""A user's own data file (``--eval-custom``) is collected as if it were a module."""

from __future__ import annotations

__all__ = ["add_arguments", "collect_file", "take_over"]

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_evalplug.dataset.custom import CustomData, benchmark_of
from pytest_evalplug.options import RunConfig
from pytest_evalplug.run.directory import RunDirectory, safe_name


def add_arguments(config: pytest.Config, run: RunConfig) -> None:
    """Let pytest collect the data too; alone, where the command line names nothing else.

    Data of which the command line names items (``exam.csv::exam::test_sample[default-3]``) is not
    collected as a whole.
    """
    named = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
    here = config.invocation_params.dir
    places = {os.path.normpath(here / arg.partition("::")[0]) for arg in named}
    paths = [str(data.path) for data in run.custom]
    config.args[:] = [*named, *(path for path in paths if path not in places)]
    config.args_source = pytest.Config.ArgsSource.ARGS


def take_over(
    config: pytest.Config, run: RunConfig, saved: Mapping[str, Any], earlier: RunDirectory
) -> RunConfig:
    """Return the settings with the data of the run that is gone on with, where none is given.

    It is collected as :func:`add_arguments` has it where the command line names nothing and that
    run had no other benchmark. ``saved`` is the snapshot of ``earlier``.
    """
    custom = tuple(map(CustomData.from_wire, saved.get("custom", ())))
    if "custom" in run.given or not custom:
        return run
    run = replace(run, custom=custom)
    names = {safe_name(data.name) for data in custom}
    alone = all(path.stem in names for path in earlier.path.glob("predictions/*/*.json"))
    if config.args_source is pytest.Config.ArgsSource.ARGS or not alone:
        return run
    add_arguments(config, run)
    return replace(run, given=(*run.given, "custom"))  # workers add the arguments too


def collect_file(path: Path, parent: pytest.Collector, run: RunConfig) -> pytest.Module | None:
    """Return a module with one benchmark for the file or folder ``path``, if it is one of ours."""
    data = next((data for data in run.custom if data.path == path), None)
    if data is None:
        return None
    benchmark = benchmark_of(data)
    module = ModuleType(benchmark.__module__)
    setattr(module, data.name, benchmark)
    # where it lies outside the project, pytest's own id would begin with "::"
    root = parent.config.rootpath
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    node = pytest.Module.from_parent(parent, path=path, nodeid=shown.as_posix())
    node.obj = module
    return node
