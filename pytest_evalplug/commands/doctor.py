"""``evalplug doctor``: what is wrong with this machine, and how to mend it."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalplug.commands.list import data_dirs

if TYPE_CHECKING:
    from pytest_evalplug.doctor.check import Check, Group
    from pytest_evalplug.doctor.ini import Ini


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    for flag, what in (("--model", "model to try out"), ("--judge-model", "judge to try out")):
        parser.add_argument(
            flag,
            dest="models",
            action="append",
            default=[],
            metavar="MODEL",
            help=f"{what}, named as for pytest: an API gets one request of one token",
        )
    parser.add_argument(
        "--load", action="store_true", help="load local models too, and have them write a token"
    )
    for flag, what in (("--data-dir", "of datasets"), ("--work-dir", "of the runs")):
        parser.add_argument(flag, metavar="DIR", help=f"folder {what} (default: as for pytest)")
    parser.add_argument("--json", action="store_true", help="print JSON, for a support request")


def run(args: argparse.Namespace) -> int:
    """Show the checks; 1 if one is a problem."""
    from pytest_evalplug.doctor.check import examine
    from pytest_evalplug.doctor.ini import find_ini
    from pytest_evalplug.doctor.screen import as_json, as_text
    from pytest_evalplug.masking import Secrets

    ini = find_ini(Path.cwd())
    tables = _tables(_pyproject(ini))
    hide = Secrets(tables).hide
    checks = examine(_groups(args, ini, tables))
    if args.json:
        print(as_json(checks, hide))
    else:
        colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        width = min(shutil.get_terminal_size().columns, 120)
        print(hide(as_text(checks, width=width, colours=colours)))
    return int(any(check.state == "problem" for check in checks))


def _groups(args: argparse.Namespace, ini: Ini, models: Mapping[str, Any]) -> list[Group]:
    from pytest_evalplug.doctor import data, machine, surroundings, tables, versions
    from pytest_evalplug.doctor.check import Group
    from pytest_evalplug.doctor.ini import ini_file
    from pytest_evalplug.doctor.models import keys

    return [
        Group("versions", versions.packages),
        Group("plugins", versions.plugins),
        Group("cpu", machine.cores),
        Group("gpu", machine.gpus),
        Group("memory", machine.memory),
        Group("work dir", lambda: machine.work_dir(Path(_folder("work_dir", args.work_dir, ini)))),
        Group(
            "data dir",
            lambda: data.at_hand(data_dirs(_folder("data_dir", args.data_dir, ini))),
            20.0,
        ),
        Group("hub", data.hub),
        Group("sandbox", surroundings.sandbox, 30.0),
        Group("terminal", surroundings.terminal),
        Group("ini file", partial(ini_file, ini)),
        Group("[tool.evalplug]", partial(tables.tables, _pyproject(ini)), 20.0),
        Group("keys", partial(keys, models)),
        *(
            Group(
                f"model {name}",
                partial(_trial, name, models, args.load),
                600.0 if args.load else 60.0,
            )
            for name in args.models
        ),
    ]


def _trial(name: str, models: Mapping[str, Any], load: bool) -> Iterator[Check]:
    from pytest_evalplug.doctor.models import trial
    from pytest_evalplug.model.spec import resolve_model

    return trial(resolve_model(name, models), load=load)


def _folder(name: str, given: str | None, ini: Ini) -> str:
    """Return what pytest's option of this name is here; several folders joined as in ``PATH``."""
    from pytest_evalplug.option_table import OPTIONS
    from pytest_evalplug.options import UNSET, resolve

    (option,) = [option for option in OPTIONS if option.name == name]
    here = Path.cwd()
    value = resolve(
        option,
        given,
        ini.options.get(option.ini_name),
        here=here,
        there=ini.path.parent if ini.path else here,
    )
    return str((option.default or "") if value is UNSET else value)


def _pyproject(ini: Ini) -> Path:
    return (ini.path.parent if ini.path else Path.cwd()) / "pyproject.toml"


def _tables(path: Path) -> Mapping[str, Any]:
    """Return the models' tables as far as they can be read: what is wrong, a check says."""
    from pytest_evalplug.errors import ConfigError
    from pytest_evalplug.tool_table import read_table

    try:
        models = read_table(path).get("models", {}) if path.is_file() else {}
    except ConfigError:
        return {}
    return models if isinstance(models, dict) else {}
