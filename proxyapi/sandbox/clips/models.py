"""The models that text-to-video offers, each with its menus and prices."""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import plans
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.catalogue.engines import CLIP_ENGINES, ClipEngine
from proxyapi.sandbox.catalogue.modifiers import MENUS, ModifierMenus


def offered_models(call: ApiCall) -> list[dict[str, Any]]:
    """The models of the account's plan."""
    has = plans.has_model
    return [_model(call, it) for it in CLIP_ENGINES if has(call.world, call.account, it.slug)]


def _model(call: ApiCall, engine: ClipEngine) -> dict[str, Any]:
    return {
        "id": engine.id,
        "name": engine.name,
        "slug": engine.slug,
        "description": engine.description,
        "type": engine.type,
        "modifiers": _menus(call, MENUS[engine.slug]),
        "cost": engine.cost,
    }


def _menus(call: ApiCall, menu: ModifierMenus) -> dict[str, Any]:
    shown = {
        "duration": _durations(call, menu),
        "resolution": _menu(menu.resolutions),
        "aspect_ratio": _menu(menu.aspect_ratios),
    }
    if menu.audio:
        shown["audio"] = _menu(menu.audio)
    for name in menu.frames:
        kind = "video" if name == "video" else "image"
        shown[name] = {"type": kind, "required": name == menu.needed}
    return shown


def _menu(values: tuple[str, ...]) -> dict[str, Any]:
    return {"options": list(values), "default": values[0]}


def _durations(call: ApiCall, menu: ModifierMenus) -> dict[str, Any]:
    if not menu.ranged:
        return {"options": list(menu.durations), "default": menu.duration}
    ends: dict[str, Any] = {
        "min": menu.durations[0],
        "max": menu.durations[-1],
        "default": menu.duration,
    }
    if call.world.settings.range_menu == "options":
        ends["options"] = list(menu.durations)
    return ends
