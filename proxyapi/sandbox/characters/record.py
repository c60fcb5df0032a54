"""The character: made from a photo, found by its ids, shown by the API and in the options."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from proxyapi.sandbox import dialect, media_url, plans
from proxyapi.sandbox.authorization import ApiCall, parse_row_id
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.pictures import PictureStore
from proxyapi.sandbox.resource_rows import Character
from proxyapi.sandbox.world import World


class Genre(NamedTuple):
    """A hand that previews are drawn in; these are not the genres of faceless videos."""

    id: int
    name: str
    slug: str
    hand: str


GENRES = (
    Genre(301, "Studio Portrait", "studio-portrait", "cinematic"),
    Genre(302, "Aquarelle", "aquarelle", "watercolor"),
    Genre(304, "Anime Hero", "anime-hero", "anime"),
    Genre(305, "Film Noir", "film-noir", "noir"),
    Genre(307, "Felt and Paper", "felt-and-paper", "paper-cut"),
    Genre(308, "Picture Book", "picture-book", "storybook"),
    Genre(311, "Neon", "neon", "synthwave"),
    Genre(312, "Arcade", "arcade", "pixel-art"),
)


def find_character(world: World, key: str) -> Character | None:
    """A character by its integer id or its uuid, as the setting allows."""
    allowed = world.settings.character_path_id
    if allowed != "uuid" and (found := world.characters.get(parse_row_id(key))) is not None:
        return found
    if allowed == "integer":
        return None
    return next((it for it in world.characters if it.uuid == key.lower()), None)


def create_character(call: ApiCall, photo: bytes, extension: str) -> Character:
    """Raises 403 if the plan has no room for it."""
    world = call.world
    plans.require_character(call)
    plans.count_upload(call, len(photo))
    pictures: PictureStore = call.request.app.state.studio.pictures
    return world.characters.put(
        Character(
            id=world.plausible_id("character", 5_200),
            uuid=str(UUID(int=world.random_source("uuid").getrandbits(128), version=4)),
            account_id=call.account.id,
            photo=pictures.keep(photo, extension),
            created_at=world.now,
        )
    )


def show_character(call: ApiCall, character: Character) -> dict[str, Any]:
    return {
        "id": character.id,
        "uuid": character.uuid,
        "name": character.name,
        "slug": character.slug,
        "age": character.age,
        "gender": character.gender,
        "status": dialect.status_word(
            call.world.settings.dialect,
            "character",
            character.status or call.world.settings.character_draft_status,
        ),
        "image_url": media_url.build_media_url(call, chosen_image(character)),
        "previews": [
            {"id": it.id, "genre_id": it.genre_id, "url": media_url.build_media_url(call, it.file)}
            for it in character.previews
        ],
        "preview_id": character.preview_id,
        "created_at": format_iso(character.created_at),
    }


def as_option(character: Character) -> dict[str, Any]:
    """A trained character as GET /faceless/options lists it."""
    return {
        "id": character.id,
        "uuid": character.uuid,
        "name": character.name,
        "slug": character.slug,
        "gender": character.gender,
        "status": character.status,
    }


def trained_characters(world: World, account_id: int) -> list[Character]:
    """The account's characters whose training has begun, ready or not."""
    return [it for it in world.characters if it.account_id == account_id and it.status]


def chosen_image(character: Character) -> str:
    """The chosen preview, else the photo."""
    chosen = (it.file for it in character.previews if it.id == character.preview_id)
    return next(chosen, character.photo)
