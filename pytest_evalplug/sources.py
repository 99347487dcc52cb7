"""Where a process's predictions come from: for each model an engine that asks, or what is saved."""

from __future__ import annotations

__all__ = ["Source", "Sources"]

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.engine import Engine
from pytest_evalplug.inference.inferencers import INFERENCERS, missing_method
from pytest_evalplug.inference.saved import SavedPredictions, info_of, saved_models
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.run.directory import safe_name
from pytest_evalplug.run.jsonio import dumps, write_atomic

if TYPE_CHECKING:
    import pytest

    from pytest_evalplug.inference.budget import Limits
    from pytest_evalplug.inference.facade import ModelFacade
    from pytest_evalplug.model.base import ModelBackend
    from pytest_evalplug.options import RunConfig
    from pytest_evalplug.planning import Role
    from pytest_evalplug.run.directory import RunDirectory
    from pytest_evalplug.run.predictions import PredictionStore
    from pytest_evalplug.verdicts import Verdicts

log = logging.getLogger("pytest_evalplug.sources")

Source = Engine | SavedPredictions


class Sources:
    """One process's models: loaded when first asked for, closed when nothing is left to ask."""

    def __init__(
        self, config: RunConfig, role: Role, verdicts: Verdicts, hide: Callable[[str], str]
    ) -> None:
        self._config = config
        self._role = role
        self._verdicts = verdicts
        self._hide = hide
        """Takes secrets out of a text."""
        self._opened: tuple[RunDirectory, PredictionStore, Limits] | None = None
        self._plan: Sequence[Case] = ()
        self._left = Counter[Case]()
        """How many items of each planned case are not over; empty where nobody can plan."""
        self._sources: dict[str, Source] = {}
        self._backends: dict[str, ModelBackend] = {}
        self._past = Counter[str]()
        """The counts of engines that are closed."""

    def plan(self, cases: Sequence[Case]) -> None:
        """Take note of the cases that this process will run, one for each item, in order."""
        self._plan = cases
        self._left = Counter(cases)

    def open(self, run: RunDirectory, store: PredictionStore, limits: Limits) -> None:
        """Keep predictions in ``store``, which is the run's, within its limits."""
        self._opened = (run, store, limits)

    @property
    def first(self) -> str:
        """The name of a model that was asked; there is only one where a case names none."""
        return next(iter(self._sources), "model")

    def of(self, case: Case, request: pytest.FixtureRequest) -> Source:
        """Return what gives a case's prediction. Raises EvalplugError if it can't be had."""
        if case.model in self._sources:
            return self._sources[case.model]
        if case.model is None and self._sources:
            return next(iter(self._sources.values()))
        if self._config.stage == "eval":
            source: Source = self._saved(case.model)
        else:
            source = self._engine(case, request)
        self._sources[source.model.name] = source
        return source

    def backend(self, name: str) -> ModelBackend:
        """Load the model ``name``, or return it; others that have nothing left to do are closed.

        Raises EvalplugError if it can't be loaded.
        """
        if name not in self._backends:
            spec = next(spec for spec in self._config.models if spec.name == name)
            self._release()
            self._backends[name] = spec.create()
        return self._backends[name]

    def _release(self) -> None:
        """Close models whose items are all over, so that two need not fit in memory at once.

        Where nothing is planned that is every other one: loading it again beats no room for it.
        """
        for name in list(self._backends):
            if any(case.model == name and items > 0 for case, items in self._left.items()):
                continue
            source = self._sources.pop(name, None)
            if source is not None:
                _close(name, source)
                self._past.update(_counts(source))
            _close(name, self._backends.pop(name))

    def model(self, case: Case, request: pytest.FixtureRequest) -> ModelFacade | ModelBackend:
        """Return the model that a case is for; the backend itself if no engine works with it.

        Raises EvalplugError if it can't be had.
        """
        source = self.of(case, request)
        if isinstance(source, Engine):
            return source.facade(case)
        return self._given(source.model.name, request)

    def forget(self, case: Case) -> None:
        """Let go of what is held for a case of which an item is over."""
        self._left[case] -= 1
        for source in self._sources.values():
            source.forget(case)
        if self._left[case] <= 0:
            self._verdicts.forget(case)

    def _saved(self, name: str | None) -> SavedPredictions:
        assert self._opened is not None
        run, store, _ = self._opened
        saved = saved_models(run)
        infos = {spec.name: info_of(spec, saved) for spec in self._config.models} or saved
        info = infos.get(name or next(iter(infos), ""))
        if info is None:
            raise ConfigError(
                f"the run {run.path} has no predictions",
                where="--mode eval",
                fix="Run it without --mode eval first, or name another run with --reuse",
            )
        self._verdicts.know(info)
        source = SavedPredictions(INFERENCERS[self._config.eval_mode], store, info)
        own = [case for case in self._plan if case.model in (None, info.name)]
        self._verdicts.follow(info.name, own, source.result)
        return source

    def _engine(self, case: Case, request: pytest.FixtureRequest) -> Engine:
        backend = self._given(case.model, request)
        info = self._info(backend)
        inferencer = INFERENCERS[self._config.eval_mode]
        if missing_method(backend, inferencer):
            raise ConfigError(
                f"backend {info.name!r} gives no token probabilities "
                f"(capabilities: {', '.join(sorted(backend.capabilities))})",
                where=f"--eval-mode={inferencer.mode}",
                fix="Use --eval-mode=gen, or a backend such as hf that has 'loglikelihood'",
            )
        assert self._opened is not None
        run, store, limits = self._opened
        folder = run.configs / "models"
        write_atomic(folder / f"{safe_name(info.name)}.json", dumps(info.to_wire()))
        self._verdicts.know(info)
        engine = Engine(
            backend,
            inferencer,
            store,
            model=info,
            share=self._role.count,
            account=limits.account(info.name, backend, info.price),
            timeout=self._config.sample_timeout,
            output_dir=run.path,
            arrived=lambda case, record: self._verdicts.arrived(case, info.name, record),
            hide=self._hide,
        )
        engine.plan([c for c in self._plan if c.model in (None, info.name)])
        return engine

    def _given(self, name: str | None, request: pytest.FixtureRequest) -> ModelBackend:
        """Return what the fixture gives; our own, with several models, leaves the choice to us."""
        given: ModelBackend | Sources = request.getfixturevalue("model_backend")
        return self.backend(name or "") if isinstance(given, Sources) else given

    def _info(self, backend: ModelBackend) -> ModelInfo:
        for spec in self._config.models:
            if self._backends.get(spec.name) is backend:
                return spec.info
        if len(self._config.models) > 1:
            raise ConfigError(
                "a model_backend fixture replaces all models, but several are named",
                where="--model",
                fix="Name one model, or remove the fixture",
            )
        name = str(backend.name)
        fingerprint = str(getattr(backend, "fingerprint", name))
        if self._config.models:  # the fixture stands for it
            return replace(self._config.models[0].info, fingerprint=fingerprint)
        return ModelInfo(name, fingerprint)

    def stop(self) -> None:
        """Ask nothing more, from now on; may be called from any thread."""
        for source in list(self._sources.values()):
            if isinstance(source, Engine):
                source.stop()

    def close(self) -> None:
        """Stop the engines, keep what arrives within their grace time, close the models."""
        for name, source in self._sources.items():
            _close(name, source)
        for name, backend in self._backends.items():
            _close(name, backend)
        self._backends.clear()
        self._plan = ()
        self._left.clear()

    def counts(self) -> Counter[str]:
        """Return how many predictions were asked, reused or stale."""
        total = self._past.copy()
        for source in self._sources.values():
            total.update(_counts(source))
        return total


def _counts(source: Source) -> dict[str, int]:
    """Return a source's counts, copied at once: the engine's thread goes on counting."""
    if not isinstance(source, Engine):
        return {}
    return {**source.counts, **source.used.counts(source.model.name)}


def _close(name: str, part: Source | ModelBackend) -> None:
    """Close it if it can be; that it can't costs nothing that was asked."""
    try:
        close = getattr(part, "close", None)
        if close is not None:
            close()
    except Exception as error:
        log.warning("model %s can't be closed", name, exc_info=error)
