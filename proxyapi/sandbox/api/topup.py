"""GET and PUT /account/auto-topup (spec: Account, rules 1 to 4)."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox import top_up
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.authorization import ApiCall, Caller, make_route_class
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.records import TopUp

PRESETS = (1, 2, 3, 4, 5, 10, 20, 30, 50, 100)
MAX_UNITS = 199_999

router = APIRouter(prefix="/account", tags=["Account"], responses=shapes.UNVERIFIED)
router.route_class = make_route_class(account_area=True)


class TopUpBody(BaseModel):
    """Loose, for when enabled is false every other field is ignored, wrong ones too."""

    model_config = ConfigDict(strict=True)

    enabled: bool
    type: Any = Field(default=None, description="extra-credits or dynamic-credits")
    plan_id: Any = Field(default=None, description="integer, for extra-credits")
    units: Any = Field(default=None, description="integer, for dynamic-credits")


@router.get("/auto-topup", response_model=shapes.Envelope[shapes.TopUpShape])
async def show_top_up(call: Caller) -> Response:
    return success_body(describe_top_up(top_up.get_preference(call.world, call.account.id)))


@router.put("/auto-topup", response_model=shapes.Envelope[shapes.TopUpShape])
async def change_top_up(call: Caller, wish: TopUpBody) -> Response:
    world = call.world
    chosen = top_up.get_preference(world, call.account.id)
    if not wish.enabled:
        chosen.enabled = False
    else:
        _apply_choice(call, chosen, wish)
        chosen.enabled = True
        chosen.enabled_at = world.now
    world.top_ups.put(chosen)
    if world.settings.top_up_on_enabling:
        top_up.top_up_if_due(world, call.account.id)
    return success_body(describe_top_up(chosen), "Auto top-up updated")


def _apply_choice(call: ApiCall, chosen: TopUp, wish: TopUpBody) -> None:
    kind = _kind(wish)
    if kind == "extra-credits":
        plan_id = _integer("plan_id", wish.plan_id)
        if plan_id not in call.world.settings.credit_packs:
            raise ValidationError({"plan_id": ["The selected plan id is invalid."]})
    else:
        units = _integer("units", wish.units)
        if units not in PRESETS and not 100 < units <= MAX_UNITS:
            raise ValidationError({"units": ["The selected units is invalid."]})
    if not call.account.payment_method:
        raise ValidationError({"enabled": ["A saved payment method is required."]})
    chosen.type = kind
    if kind == "extra-credits":
        chosen.plan_id = plan_id
    else:
        chosen.units = units


def _kind(wish: TopUpBody) -> Literal["extra-credits", "dynamic-credits"]:
    if wish.type is None:
        raise ValidationError({"type": ["The type field is required when enabled is true."]})
    if wish.type == "extra-credits":
        return "extra-credits"
    if wish.type == "dynamic-credits":
        return "dynamic-credits"
    raise ValidationError({"type": ["The selected type is invalid."]})


def _integer(field: str, value: Any) -> int:
    name = field.replace("_", " ")
    if value is None:
        raise ValidationError({field: [f"The {name} field is required for this type."]})
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValidationError({field: [f"The {name} field must be an integer."]})
    return value


def describe_top_up(chosen: TopUp) -> dict[str, Any]:
    return {
        "enabled": chosen.enabled,
        "type": chosen.type,
        "plan_id": chosen.plan_id,
        "units": chosen.units,
        "enabled_at": format_iso(chosen.enabled_at) if chosen.enabled_at is not None else None,
        "consecutive_failures": chosen.consecutive_failures,
    }
