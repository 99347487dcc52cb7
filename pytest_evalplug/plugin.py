"""The pytest plugin: hooks of a few lines that decide, and leave the work to other modules.

Every pytest run in an environment with the plugin imports this module, so it imports nothing
heavy; what evaluates is imported when the first benchmark is collected.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import StorageError
from pytest_evalplug.fixtures import (  # noqa: F401  (fixtures are found by being here)
    EVALUATED,
    evalplug_case,
    evaluation,
    model,
    model_backend,
    prediction,
    sample,
)
from pytest_evalplug.marks import register_marks
from pytest_evalplug.option_table import add_options, add_short_options, any_given
from pytest_evalplug.stash import (
    RUN_CONFIG,
    SESSION,
    WORKER_INPUT,
    run_config,
    secrets_of,
    session_of,
    worker_input,
)

ATTRIBUTE = "__evalplug_meta__"


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> Generator[None]:
    yield  # a conftest's own --model comes first
    add_short_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_evalplug import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    register_marks(config)
    told = worker_input(config)
    if told is None and (any_given(config) or _is_distributed(config)):
        run_config(config)
    if (RUN_CONFIG in config.stash or told) and "custom" in run_config(config).given:
        from pytest_evalplug.custom_files import add_arguments

        add_arguments(config, run_config(config))


def _is_distributed(config: pytest.Config) -> bool:
    """Tell whether workers will run the items: only a Controller can tell them their part."""
    return str(config.getoption("dist", "no")) != "no"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if config.option.help or config.option.version or worker_input(config):
        return None
    if not any_given(config):
        return None
    from pytest_evalplug.viz import show_run

    return show_run(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return _custom(path, parent)


@pytest.hookimpl(tryfirst=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return _custom(file_path, parent)


def _custom(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a user's own data, if ``path`` is some."""
    run = parent.config.stash.get(RUN_CONFIG, None)
    if run is None or not run.custom:
        return None
    from pytest_evalplug.custom_files import collect_file

    return collect_file(path, parent, run)


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> Any:
    if not isinstance(obj, type) or not hasattr(obj, ATTRIBUTE):
        return None
    from pytest_evalplug.collection import make_benchmark

    session = session_of(collector.config)
    return make_benchmark(collector, name, obj, session.config, session.benchmarks)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if SESSION in metafunc.config.stash or "model_backend" in metafunc.fixturenames:
        from pytest_evalplug.collection import parametrize

        parametrize(metafunc, run_config(metafunc.config))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SESSION in config.stash:
        from pytest_evalplug.collection import select

        session = config.stash[SESSION]
        select(config, items, session.config, session.benchmarks)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    if SESSION in session.config.stash:
        session.config.stash[SESSION].collected(session.items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    if SESSION in session.config.stash and not session.config.option.collectonly:
        from pytest_evalplug.controller import CONTROLLER

        controller = session.config.pluginmanager.getplugin(CONTROLLER)
        open_run = controller.open_run if controller else None
        try:
            session.config.stash[SESSION].start(session.items, open_run)
        except StorageError as error:
            session.shouldfail = str(error)
            raise session.Failed(session.shouldfail) from None
        if controller:
            controller.start_progress()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    if SESSION in item.config.stash:
        item.config.stash[SESSION].over(item)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> None:
    if fixturedef.argname == "evaluation":
        EVALUATED.request = request


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    if call.excinfo is not None and SESSION in item.config.stash:
        item.config.stash[SESSION].failed(item, call.excinfo)
    report = yield
    if SESSION in item.config.stash:
        item.config.stash[SESSION].reported(item, call, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if report.failed and RUN_CONFIG in collector.config.stash:
        from pytest_evalplug.report.outcome import hide_secrets

        hide_secrets(report, secrets_of(collector.config).hide)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None and SESSION in session.config.stash:
        own = session.config.stash[SESSION]
        own.close()
        output[WORKER_INPUT] = dict(own.counts())
