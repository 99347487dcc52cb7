"""What a model's tokens cost."""

from __future__ import annotations

__all__ = ["Price", "check_priced"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_type_hints

from pytest_evalplug.errors import ConfigError, nearest
from pytest_evalplug.model.table_values import check_values

if TYPE_CHECKING:
    from pytest_evalplug.model.spec import ModelSpec

_EXAMPLE = "For example price = { prompt = 0.15, completion = 0.6 }, per million tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in whatever currency the bill is in.

    ``cached_prompt`` is for the tokens of a prompt that the server had in its cache; where it is
    None they cost as much as the others.
    """

    prompt: float
    completion: float
    cached_prompt: float | None = None

    @classmethod
    def from_table(cls, table: Any, where: str) -> Price | None:
        """Read ``price`` of a model's table. Raises ConfigError if it can't be one."""
        if table is None:
            return None
        if not isinstance(table, Mapping):
            raise ConfigError(f"price is {table!r}", where=where, fix=_EXAMPLE)
        accepted = [f.name for f in fields(cls)]
        for key in table:
            if key not in accepted:
                raise ConfigError(
                    f"price has no part {key!r}", where=where, fix=nearest(str(key), accepted)
                )
        for key in ("prompt", "completion"):
            if key not in table:
                raise ConfigError(f"price lacks {key!r}", where=where, fix=_EXAMPLE)
        check_values(table, get_type_hints(cls), where, "price.")
        return cls(**table)


def check_priced(models: Sequence[ModelSpec], judge: ModelSpec | None, stage: str) -> None:
    """Raise ConfigError unless the price is known of all that may be asked in ``stage``."""
    asked = [*models] if stage in ("all", "infer") else []
    if not asked and stage in ("all", "infer"):
        raise ConfigError(
            "no price is known, for no --model is named",
            where="--eval-max-cost",
            fix="Name one whose table has a price; a model_backend fixture may stand for it",
        )
    for spec in asked if judge is None or stage in ("infer", "viz") else [*asked, judge]:
        if spec.price is None:
            raise ConfigError(
                f"no price is known of model {spec.name!r}",
                where="--eval-max-cost",
                fix=f"Add it to [tool.evalplug.models.{spec.name}]. {_EXAMPLE}",
            )
