"""Load a split from the Hugging Face hub or ModelScope; without a network, say so quickly."""

from __future__ import annotations

__all__ = ["load_from_hub"]

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pytest_evalplug.dataset.table import Table
from pytest_evalplug.errors import DataError, one_line

PROBE_TIMEOUT = 5.0
"""Seconds that the first look at a hub id may take."""

_obstacles: dict[tuple[str, str | None], str | None] = {}
"""Why a hub id can't be had, asked once per process: 57 subsets don't wait 57 times."""


def load_from_hub(dataset_id: str, subset: str | None, split: str, revision: str | None) -> Table:
    """Return one split. Code that ships inside a dataset is never run.

    Raises LookupError with the reason if the hub or the id is out of reach and nothing is cached,
    DataError if it is there but lacks the subset or split.
    """
    if dataset_id.startswith("ms:"):
        return _from_modelscope(dataset_id.removeprefix("ms:"), subset, split, revision)
    import datasets

    if getattr(datasets.config, "HF_DATASETS_TRUST_REMOTE_CODE", False):  # before datasets 4
        datasets.config.HF_DATASETS_TRUST_REMOTE_CODE = False
    offline = _why_offline(dataset_id, revision)
    name = None if subset == "default" else subset
    try:
        with _offline_mode(offline is not None):
            loaded = datasets.load_dataset(dataset_id, name, split=split, revision=revision)
    except ConnectionError as error:
        raise LookupError(f"hub id {dataset_id}: {offline or one_line(error)}") from None
    except Exception as error:
        if offline:
            raise LookupError(f"hub id {dataset_id}: {offline}") from None
        raise DataError(
            f"hub id {dataset_id}, subset {subset!r}, split {split!r}: {one_line(error)}",
            fix="Check dataset_id, subset_list, eval_split and train_split.",
        ) from error
    return Table(loaded.to_list(), f"{dataset_id} ({subset or 'default'}, {split})")


def _why_offline(dataset_id: str, revision: str | None) -> str | None:
    """Return why the hub can't be asked, None if it can.

    One request without retries: ``load_dataset`` itself keeps trying for half a minute.
    """
    from huggingface_hub import HfApi, constants

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    key = (dataset_id, revision)
    if key not in _obstacles:
        try:
            HfApi().dataset_info(dataset_id, revision=revision, timeout=PROBE_TIMEOUT)
            _obstacles[key] = None
        except Exception as error:
            _obstacles[key] = one_line(error)
    return _obstacles[key]


@contextmanager
def _offline_mode(active: bool) -> Iterator[None]:
    """Let ``datasets`` answer from its cache only; its own switch is read at import."""
    import datasets
    from huggingface_hub import constants

    places: list[Any] = [datasets.config, constants] if active else []
    old = [place.HF_HUB_OFFLINE for place in places]
    for place in places:
        place.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        for place, value in zip(places, old, strict=True):
            place.HF_HUB_OFFLINE = value


def _from_modelscope(
    dataset_id: str, subset: str | None, split: str, revision: str | None
) -> Table:
    try:
        loader = importlib.import_module("modelscope.msdatasets").MsDataset
    except ImportError:
        raise LookupError(f"ms:{dataset_id} needs ModelScope (pip install modelscope)") from None
    key = (f"ms:{dataset_id}", revision)
    if obstacle := _obstacles.get(key):
        raise LookupError(obstacle)
    try:
        loaded = loader.load(
            dataset_id,
            subset_name=subset or "default",
            split=split,
            version=revision or "master",
            trust_remote_code=False,
        )
    except Exception as error:
        _obstacles[key] = f"ms:{dataset_id}: {one_line(error)}"
        raise LookupError(_obstacles[key]) from None
    return Table([dict(row) for row in loaded], f"ms:{dataset_id} ({subset}, {split})")
