"""Instruction ``language:response_language``, and the detector behind it."""

from __future__ import annotations

__all__ = ["detect_language", "response_language"]

from functools import lru_cache
from typing import Any

from pytest_evalplug.errors import ConfigError


def response_language(reply: str, *, language: str) -> bool:
    """The reply is in ``language`` (ISO 639-1), or in none that can be told."""
    return detect_language(reply) in (language, None)


def detect_language(text: str) -> str | None:
    """Return the language of ``text`` by ``langdetect``, ``None`` if there is nothing to go by.

    It reads the first 10,000 characters and draws samples from them: here always the same ones,
    by seed 0, so that a reply gets the same verdict every time. Raises ConfigError where
    langdetect isn't installed.
    """
    factory, failed = _factory()
    detector = factory.create()
    detector.append(text)
    try:
        return str(detector.detect())
    except failed:
        return None


@lru_cache(maxsize=1)
def _factory() -> tuple[Any, type[Exception]]:
    """Return langdetect's detectors and its exception; its global factory stays as it is."""
    try:
        from langdetect import LangDetectException
        from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
    except ImportError as error:
        raise ConfigError(
            "IFEval tells languages apart by langdetect, which is not installed",
            fix="pip install 'pytest-evalplug[ifeval]'",
        ) from error
    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory, LangDetectException
