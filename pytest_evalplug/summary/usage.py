"""The tokens that a run's replies took, by model and judge, and what they cost."""

from __future__ import annotations

__all__ = ["ModelUsage", "price_of", "usage_of", "usage_text"]

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.model.price import Price
from pytest_evalplug.model.usage import Usage
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.merged import MergedFile
from pytest_evalplug.run.results import ResultFile


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What the saved replies of a model, or of a judge, took; whichever session asked for them.

    ``unknown`` replies say nothing of it. What failed is in no reply, and may have been paid too.
    """

    name: str
    judge: bool
    usage: Usage
    unknown: int = 0
    price: Price | None = None

    @property
    def cost(self) -> float | None:
        """What it cost by the price in the model's table; None without one."""
        return None if self.price is None else self.usage.cost(self.price)

    def line(self) -> str:
        """Return this as a line below a table."""
        name = f"judge {self.name}" if self.judge else self.name
        unknown = f"; {self.unknown:,} replies say nothing of theirs" if self.unknown else ""
        return f"{name}: {usage_text(self.usage, self.price)}{unknown}"

    def to_wire(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "name": self.name,
            "role": "judge" if self.judge else "model",
            **{f"{part}_tokens": count for part, count in self.usage._asdict().items()},
            "replies_without_usage": self.unknown,
            "cost": self.cost,
        }


def usage_text(usage: Usage, price: Price | None) -> str:
    """Return the tokens and their cost in words."""
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    cost = f", {_amount(usage.cost(price))} by its price" if price else ""
    return f"{usage.prompt:,}{cached} prompt + {usage.completion:,} completion tokens{cost}"


def _amount(cost: float) -> str:
    return f"{cost:,.2f}" if cost >= 1 or not cost else f"{cost:.2g}"


def usage_of(
    run: RunDirectory, models: Sequence[str], results: Mapping[tuple[str, str], ResultFile]
) -> tuple[ModelUsage, ...]:
    """Return what each model and judge took; those of whom no reply says it are left out."""
    found = [_of_model(run, model, results) for model in models]
    found += _of_judges(run)
    return tuple(one for one in found if one.usage.total)


def price_of(run: RunDirectory, kind: str, name: str) -> Price | None:
    """Return the price that a run has noted down; ``kind`` is ``models`` or ``judges``."""
    path = run.configs / kind / f"{safe_name(name)}.json"
    try:
        return Price.from_table(json.loads(path.read_text(encoding="utf-8")).get("price"), "")
    except (OSError, ValueError, AttributeError, ConfigError):
        return None


def _of_model(
    run: RunDirectory, model: str, results: Mapping[tuple[str, str], ResultFile]
) -> ModelUsage:
    usage, unknown = Usage(), 0
    for (name, _), result in results.items():
        if name == model:
            usage = usage.plus(Usage(**result.usage))
            unknown += result.num_replies - result.num_with_usage
    return ModelUsage(model, False, usage, unknown, price_of(run, "models", model))


def _of_judges(run: RunDirectory) -> Iterator[ModelUsage]:
    for folder in sorted(path for path in (run.path / "judgements").glob("*") if path.is_dir()):
        usage, unknown = Usage(), 0
        for file in sorted(folder.glob("*.json")):
            for record in MergedFile(file).values():
                if (one := Usage.of(record.get("usage"))) is not None:
                    usage = usage.plus(one)
                else:
                    unknown += 1
        name = folder.name  # as a file name
        yield ModelUsage(name, True, usage, unknown, price_of(run, "judges", name))
