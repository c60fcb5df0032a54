"""The setting of an account's automatic top-up, and the body that sets it (spec, PUT rules 1 to 4).

Pure values. Units are 100 credits each; up to 100 units only the presets are legal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from proxyapi.models import AutoTopUp, TopUpType

UNIT_PRESETS = (1, 2, 3, 4, 5, 10, 20, 30, 50, 100)
MAX_TOP_UP_UNITS = 199_999
CREDITS_PER_UNIT = 100
SETTING_FIELDS = ("enabled", "type", "plan_id", "units")


@dataclass(frozen=True, slots=True)
class TopUpSetting:
    """`type` is the upstream's raw value; fields that do not belong to it may still be set."""

    enabled: bool = False
    type: str = ""
    plan_id: int | None = None
    units: int | None = None

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Parse the result of `to_dict` or the upstream's record; a value of a wrong type is
        ignored."""
        type_ = values.get("type")
        return cls(
            enabled=values.get("enabled") is True,
            type=type_[:40] if isinstance(type_, str) and type_.isprintable() else "",
            plan_id=parse_whole_number(values.get("plan_id")),
            units=parse_whole_number(values.get("units")),
        )

    @classmethod
    def from_row(cls, row: AutoTopUp) -> Self:
        return cls(row.enabled, row.type, row.plan_id, row.units)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SETTING_FIELDS}

    def to_request_body(self) -> dict[str, Any]:
        """Switching off sends only that: the other fields are ignored and preserved (pitfalls 69 to
        71)."""
        if not self.enabled:
            return {"enabled": False}
        if self.type == TopUpType.PACK:
            return {"enabled": True, "type": self.type, "plan_id": self.plan_id}
        return {"enabled": True, "type": self.type, "units": self.units}

    def applied_to(self, before: Self) -> Self:
        """The setting after this one is saved: switching off leaves the other fields as they were
        `before`."""
        return self if self.enabled else replace(before, enabled=False)

    def satisfies(self, requested: TopUpSetting) -> bool:
        """Whether this reading is the requested setting; only fields of the request body are
        compared."""
        actual = self.to_dict()
        return all(actual[name] == value for name, value in requested.to_request_body().items())

    def credits_per_top_up(self, packs: Mapping[int, int]) -> int | None:
        """Credits of one top-up; None if the pack's credits are not entered."""
        if self.type == TopUpType.UNITS:
            return None if self.units is None else self.units * CREDITS_PER_UNIT
        return None if self.plan_id is None else packs.get(self.plan_id)

    def describe(self) -> str:
        """For a sentence: "on, 2,000 cr per top-up", "off"."""
        return f"on, {self.describe_purchase()}" if self.enabled else "off"

    def describe_purchase(self) -> str:
        if self.type == TopUpType.UNITS and self.units is not None:
            return f"{self.units * CREDITS_PER_UNIT:,} cr per top-up"
        if self.type == TopUpType.PACK and self.plan_id is not None:
            return f"credit pack {self.plan_id} per top-up"
        return "no purchase chosen"


def parse_whole_number(value: object) -> int | None:
    """A whole number that fits in a row's column, otherwise None."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        return None
    return value


def is_legal_unit_count(units: int) -> bool:
    """Spec, PUT rule 2: only the presets up to 100, any number above (pitfall 72)."""
    return units in UNIT_PRESETS or max(UNIT_PRESETS) < units <= MAX_TOP_UP_UNITS
