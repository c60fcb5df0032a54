"""Forms of the top-up page: the setting, with legal values only, and credit packs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django import forms

from dashboard.shared.formatting import CURRENCIES
from dashboard.shared.forms import PortalForm
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.typed_numbers import TypedNumberField, parse_typed_number
from proxyapi.models import CreditPack, TopUpType
from proxyapi.top_up import (
    CREDITS_PER_UNIT,
    MAX_TOP_UP_UNITS,
    UNIT_PRESETS,
    TopUpSetting,
    is_legal_unit_count,
)

MIN_TYPED_UNITS = max(UNIT_PRESETS) + 1
TYPED_UNITS_ERROR = (
    f"Enter a whole number of units from {MIN_TYPED_UNITS} to {MAX_TOP_UP_UNITS:,}. Choose fewer "
    "above."
)
UNITS_REQUIRED = "Choose how many units each top-up buys."
PACK_REQUIRED = "Choose a pack. If none is listed, add one below."
TYPE_REQUIRED = "Choose what a top-up buys."
CREDITS_NOT_TYPED = "Type the credits that each top-up buys, as they are shown above."
FORM_OUTDATED = "This form has expired. Open the page again."
MAX_PACK_CREDITS, MAX_PACK_PRICE = 100_000_000, Decimal("99_999_999.99")
PACK_CREDITS_ERROR = f"Enter a whole number of credits from 1 to {MAX_PACK_CREDITS:,}."
PACK_PRICE_ERROR = f"Enter a price from 0 to {MAX_PACK_PRICE:,}, such as 1,250.00."


@dataclass(frozen=True, slots=True)
class UnitChoice:
    units: int
    chosen: bool

    @property
    def credits(self) -> int:
        return self.units * CREDITS_PER_UNIT


@dataclass(frozen=True, slots=True)
class PackChoice:
    """A pack to choose; the pack that is set is listed even if its credits are unknown."""

    plan_id: int
    name: str
    credits: int | None
    chosen: bool


class TopUpForm(PortalForm):
    """`seen` is the setting that the form was built from."""

    enabled = forms.BooleanField(required=False)
    type = forms.ChoiceField(choices=TopUpType, required=False, error_messages={})
    units = forms.CharField(required=False)
    more = forms.CharField(required=False, label="More than 100 units")
    plan_id = forms.CharField(required=False)
    seen = forms.CharField(
        widget=forms.HiddenInput,
        max_length=500,
        error_messages=dict.fromkeys(("required", "max_length"), FORM_OUTDATED),
    )

    def __init__(self, packs: Iterable[CreditPack], drawn: TopUpSetting, data: Any = None) -> None:
        self.packs, self.drawn = list(packs), drawn
        super().__init__(data, initial=top_up_initial(drawn), use_required_attribute=False)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = self.cleaned_data
        # Switching off submits no other field, so their errors do not matter.
        if not values.get("enabled"):
            for name in set(self.errors) - {"seen"}:
                del self.errors[name]
        elif values.get("type") == TopUpType.PACK:
            self.clean_pack(values)
        elif values.get("type") == TopUpType.UNITS:
            self.clean_count(values)
        elif "type" not in self.errors:
            self.add_error("type", TYPE_REQUIRED)
        return values

    def clean_seen(self) -> TopUpSetting:
        try:
            setting = json.loads(self.cleaned_data["seen"])
        except (ValueError, RecursionError):
            raise forms.ValidationError(FORM_OUTDATED) from None
        return TopUpSetting.from_mapping(setting if isinstance(setting, dict) else {})

    def clean_pack(self, values: dict[str, Any]) -> None:
        allowed_ids = {str(pack.plan_id) for pack in self.pack_choices}
        if values.get("plan_id") not in allowed_ids:
            self.add_error("plan_id", PACK_REQUIRED)

    def clean_count(self, values: dict[str, Any]) -> None:
        """A typed number takes precedence over a chosen one."""
        typed = str(values.get("more", ""))
        number = parse_typed_number(typed or str(values.get("units", ""))) or 0
        count = int(number) if number == int(number) else 0
        if typed and not (is_legal_unit_count(count) and count >= MIN_TYPED_UNITS):
            self.add_error("more", TYPED_UNITS_ERROR)
        elif not is_legal_unit_count(count):
            self.add_error("units", UNITS_REQUIRED)
        values["count"] = count

    def requested_setting(self) -> TopUpSetting:
        """The setting of a valid form."""
        values = self.cleaned_data
        seen: TopUpSetting = values["seen"]
        if not values["enabled"]:
            return TopUpSetting(False, seen.type, seen.plan_id, seen.units)
        if values["type"] == TopUpType.PACK:
            return TopUpSetting(True, TopUpType.PACK, int(values["plan_id"]), seen.units)
        return TopUpSetting(True, TopUpType.UNITS, seen.plan_id, values["count"])

    @property
    def unit_choices(self) -> tuple[UnitChoice, ...]:
        chosen = "" if self["more"].value() else str(self["units"].value() or "")
        return tuple(UnitChoice(units, str(units) == chosen) for units in UNIT_PRESETS)

    @property
    def pack_choices(self) -> tuple[PackChoice, ...]:
        chosen = str(self["plan_id"].value() or "")
        packs = [(pack.plan_id, pack.name, pack.credits) for pack in self.packs]
        current_plan_id = self.drawn.plan_id
        if current_plan_id is not None and current_plan_id not in {
            plan_id for plan_id, *_ in packs
        }:
            packs.append((current_plan_id, f"Pack {current_plan_id}", None))  # type: ignore[arg-type]
        return tuple(
            PackChoice(plan_id, name, credits, str(plan_id) == chosen)
            for plan_id, name, credits in packs
        )

    @property
    def buys_packs(self) -> bool:
        return bool(self["type"].value() == TopUpType.PACK)


class TopUpChangeForm(PortalForm):
    """`credits_to_type`: the credits of each top-up, if they are to be typed to confirm them."""

    nonce = forms.UUIDField(label="the form key", widget=forms.HiddenInput, initial=uuid4)

    def __init__(self, data: Any = None, *, credits_to_type: int | None = None) -> None:
        super().__init__(data)
        self.credits_to_type = credits_to_type
        if credits_to_type is not None:
            self.fields["credits"] = forms.CharField(
                label=f"Type {credits_to_type:,} to confirm",
                help_text="Each top-up buys far more than the setting now.",
                widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
                error_messages={"required": CREDITS_NOT_TYPED},
            )

    def clean_credits(self) -> str:
        typed = str(self.cleaned_data["credits"])
        if parse_typed_number(typed) != self.credits_to_type:
            raise forms.ValidationError(CREDITS_NOT_TYPED)
        return typed


def top_up_initial(drawn: TopUpSetting) -> dict[str, Any]:
    is_typed = drawn.units is not None and drawn.units not in UNIT_PRESETS
    return {
        "enabled": drawn.enabled,
        "type": drawn.type or TopUpType.UNITS,
        "units": "" if is_typed or drawn.units is None else str(drawn.units),
        "more": str(drawn.units) if is_typed else "",
        "plan_id": "" if drawn.plan_id is None else str(drawn.plan_id),
        "seen": json.dumps(drawn.to_dict()),
    }


class CreditPackForm(PortalForm):
    """A credit pack as its page at the service describes it."""

    plan_id = forms.IntegerField(
        label="Plan ID",
        min_value=1,
        max_value=2**31 - 1,
        help_text="ID of the pack's plan at the service. The service does not list its packs.",
        error_messages={"required": "Enter the pack's plan ID."},
    )
    name = forms.CharField(max_length=60, error_messages={"required": "Enter a name."})
    credits = TypedNumberField(PACK_CREDITS_ERROR, min_value=1, max_value=MAX_PACK_CREDITS)
    price = TypedNumberField(
        PACK_PRICE_ERROR,
        label="Price, if known",
        required=False,
        min_value=0,
        max_value=MAX_PACK_PRICE,
        decimal_places=2,
    )
    currency = forms.ChoiceField(choices=[(code, code) for code in CURRENCIES], required=False)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, use_required_attribute=False, auto_id="pack_%s")
        reject_invisible(self.fields["name"])

    def clean_credits(self) -> int:
        return int(self.cleaned_data["credits"])
