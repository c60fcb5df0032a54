"""The catalogue: what `GET /v2/faceless/options` offers and PATCH accepts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from proxyapi.sandbox.catalogue import styles
from proxyapi.sandbox.catalogue.engines import CLIP_ENGINES
from proxyapi.sandbox.catalogue.modifiers import MENUS
from proxyapi.sandbox.catalogue.voices import BY_ID, VOICES, Voice

CHARACTERS: tuple[dict[str, Any], ...] = (
    {
        "id": 5102,
        "uuid": str(UUID("6f0e8f0a-3a51-4b7e-9d0c-2f6f3f1c5a11")),
        "name": "Professor Finch",
        "slug": "professor-finch",
        "gender": "male",
        "status": "ready",
    },
    {
        "id": 5107,
        "uuid": str(UUID("b1c9d6de-58a2-4c7b-8f0e-7d3f6f0a9c24")),
        "name": "Captain Ilse",
        "slug": "captain-ilse",
        "gender": "female",
        "status": "ready",
    },
    {
        "id": 5110,
        "uuid": str(UUID("0d4b7c52-92f3-4f1a-a6c8-51e2b8d7e936")),
        "name": "Pim",
        "slug": "pim",
        "gender": "unknown",
        "status": "training",
    },
)


def mandatory_options() -> dict[str, list[dict[str, Any]]]:
    return {
        "aspect_ratios": [
            {"slug": slug, "label": label} for slug, label in styles.ASPECT_RATIOS.items()
        ],
        "genres": [genre._asdict() for genre in styles.GENRES],
        "image_engines": [
            engine._asdict() | {"type": "text-to-image"} for engine in styles.IMAGE_ENGINES
        ],
        "voices": [voice._asdict() for voice in VOICES],
    }


def optional_options() -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {
        group: [{"name": name, "slug": slug} for slug, name in items.items()]
        for group, items in styles.STYLES.items()
    }
    groups["backgrounds"] = [it._asdict() for it in styles.BACKGROUNDS]
    groups["clip_engines"] = [
        {
            "id": engine.id,
            "name": engine.name,
            "slug": engine.slug,
            "description": engine.description,
            "type": engine.type,
            "cost": engine.cost,
        }
        for engine in CLIP_ENGINES
    ]
    groups["characters"] = [{**character} for character in CHARACTERS]
    return groups


def get_voice(voice_id: int | None) -> Voice | None:
    return BY_ID.get(voice_id) if voice_id is not None else None


def engine_multiplier(image_engine_id: int | None) -> int:
    """The cost multiplier of an image engine; 1 when none is chosen."""
    return next((it.cost for it in styles.IMAGE_ENGINES if it.id == image_engine_id), 1)


def genre_slug(genre_id: int | None) -> str | None:
    return next((it.slug for it in styles.GENRES if it.id == genre_id), None)


def background_colour(background_id: int | None, own: str) -> str:
    """Six hexadecimal digits; `own` where no background of a colour is chosen."""
    return styles.BACKGROUND_COLOURS.get(background_id or 0, own)


def character_uuids() -> frozenset[str]:
    return frozenset(it["uuid"] for it in CHARACTERS)


def accepted_values() -> dict[str, frozenset[Any]]:
    """For each setting that must name an item of the catalogue, the values it takes."""
    values: dict[str, frozenset[Any]] = {
        setting: frozenset(styles.STYLES[group])
        for group, setting in styles.SETTING_OF_GROUP.items()
    }
    values["aspect_ratio"] = frozenset(styles.ASPECT_RATIOS)
    values["genre_id"] = frozenset(it.id for it in styles.GENRES)
    values["image_engine_id"] = frozenset(it.id for it in styles.IMAGE_ENGINES)
    values["clip_engine_id"] = frozenset(it.id for it in CLIP_ENGINES)
    values["resolution"] = frozenset(it for menu in MENUS.values() for it in menu.resolutions)
    values["audio"] = frozenset(("on", "off"))
    values["background_id"] = frozenset(it.id for it in styles.BACKGROUNDS)
    return values
