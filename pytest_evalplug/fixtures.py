"""The fixtures that benchmarks and their tests use; light, as every pytest run imports them."""

from __future__ import annotations

__all__ = [
    "EVALUATED",
    "evalplug_case",
    "evaluation",
    "model",
    "model_backend",
    "prediction",
    "sample",
]

import threading
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_evalplug.errors import (
    ConfigError,
    EvalplugError,
    FatalModelError,
    NotApplicable,
    StorageError,
    nearest,
)
from pytest_evalplug.report.text import clean
from pytest_evalplug.stash import session_of

if TYPE_CHECKING:
    from pytest_evalplug.inference.case import Case
    from pytest_evalplug.inference.facade import ModelFacade
    from pytest_evalplug.inference.records import Record
    from pytest_evalplug.model.base import ModelBackend
    from pytest_evalplug.types import Sample
    from pytest_evalplug.verdicts import Evaluation


class _Evaluated(threading.local):
    """Whom the fixture ``evaluation`` is set up for, as ``pytest_fixture_setup`` says.

    It does not name ``request``, as every item has it: pytest builds and inspects two stand-ins
    for each that does, a twentieth of what an item costs.
    """

    request: pytest.FixtureRequest


EVALUATED = _Evaluated()


def refuse(error: EvalplugError) -> NoReturn:
    """Report an error as one line, without a traceback; what does not apply as a skip."""
    __tracebackhide__ = True
    if isinstance(error, NotApplicable):
        raise pytest.skip.Exception(clean(error)) from None
    raise pytest.fail.Exception(clean(error), pytrace=False) from None


@pytest.fixture(scope="session")
def model_backend(request: pytest.FixtureRequest) -> Any:
    """The model that ``--model`` names; redefine this fixture to evaluate your own object."""
    session = session_of(request.config)
    names = [spec.name for spec in session.config.models]
    name = getattr(request, "param", None) or (names[0] if len(names) == 1 else None)
    if name is None and names:
        return session.sources  # several models: each case picks its own
    try:
        if name is None:
            from pytest_evalplug.model.spec import BUILTIN_MODELS

            raise ConfigError(
                "no model to evaluate",
                where="--model",
                fix=f"Add --model=smollm2 or another. {nearest('', BUILTIN_MODELS)}; "
                "or hf:<id-or-path>, openai:<model>@<base_url>; or define a model_backend fixture",
            )
        return session.sources.backend(name)
    except EvalplugError as error:
        # nothing can run without it: one clear error, not one for every sample
        request.session.shouldfail = clean(error)
        refuse(error)


@pytest.fixture
def model(
    request: pytest.FixtureRequest, model_backend: ModelBackend
) -> ModelBackend | ModelFacade:
    """The model under evaluation, for an author's own tests.

    In a test that runs per sample it joins the engine's batches and limits, and is what hooks
    get: ``generate(prompt, **params)``. Elsewhere it is the backend, asked by nobody else.
    """
    from pytest_evalplug.collection import case_of

    if case_of(request.node) is None:
        return model_backend
    case = _case(request)
    try:
        return session_of(request.config).sources.model(case, request)
    except EvalplugError as error:
        refuse(error)


@pytest.fixture
def evalplug_case(request: pytest.FixtureRequest) -> Case:
    """The sample's place in its dataset."""
    return _case(request)


def _case(request: pytest.FixtureRequest) -> Case:
    """Return the case that the test is parametrized with, through whichever fixture."""
    from pytest_evalplug.collection import Placeholder, case_of

    case = case_of(request.node)
    if case is None:
        refuse(
            ConfigError(
                "the fixtures sample, prediction and evaluation belong to a benchmark",
                where=request.node.nodeid,
                fix="Use them in a class decorated with @register_benchmark",
            )
        )
    if isinstance(case, Placeholder):
        refuse(case.error)
    return case


def _predict(request: pytest.FixtureRequest, case: Case) -> tuple[str, Record]:
    """Return the model's name and the prediction record; waits for the model."""
    try:
        return session_of(request.config).predict(case, request)
    except EvalplugError as error:
        refuse(error)


@pytest.fixture
def sample(evalplug_case: Case) -> Sample:
    """The Sample under test."""
    return evalplug_case.sample


@pytest.fixture
def prediction(request: pytest.FixtureRequest, evalplug_case: Case) -> str:
    """The model's raw reply (in ``ppl`` and ``ll`` mode, the letter of the chosen choice)."""
    return str(_predict(request, evalplug_case)[1]["prediction"])


@pytest.fixture
def evaluation() -> Evaluation:
    """The scored prediction; its ``check()`` raises WrongAnswer."""
    request = EVALUATED.request
    case = _case(request)
    model_name, record = _predict(request, case)
    try:
        result = session_of(request.config).evaluate(case, model_name, record)
    except EvalplugError as error:
        # no judge, or no room: further replies would be paid in vain
        if isinstance(error, (FatalModelError, StorageError)):
            request.session.shouldfail = clean(error)
        refuse(error)
    from pytest_evalplug.report.properties import add_properties

    add_properties(request.node, result)
    request.config.hook.pytest_evalplug_scored(item=request.node, evaluation=result)
    return result
