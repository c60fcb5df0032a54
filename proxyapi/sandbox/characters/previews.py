"""Previews: candidates in a genre's hand, five calls a minute, promised and then drawn."""

from __future__ import annotations

from proxyapi.sandbox import billing, pictures, rate_limits
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.characters.record import GENRES
from proxyapi.sandbox.errors import TooManyRequests, ValidationError
from proxyapi.sandbox.records import Charge, Token
from proxyapi.sandbox.resource_rows import Character, Preview


def create_previews(call: ApiCall, character: Character, genre_id: int) -> Charge | None:
    """Add candidates; a charge if previews cost anything. Raises 422, 429 and 402."""
    world = call.world
    genre = next((it for it in GENRES if it.id == genre_id), None)
    if genre is None:
        raise ValidationError({"genre_id": ["The selected genre id is invalid."]})
    _take_preview_slot(call)
    price = billing.get_price(world, "character_preview")
    resource = f"character:{character.id}"
    use = FeatureUse("character_preview", price, resource, "Character preview", "character")
    billing.require_credits(call, use)
    charge = billing.charge_credits(call, use) if price else None
    for _ in range(world.settings.previews_per_call):
        file = pictures.promise_picture(
            world,
            extension="png",
            kind="portraits",
            genre=genre.hand,
            seed=world.random_source("portrait").getrandbits(32),
            photo=character.photo,
        )
        numbered = world.plausible_id("preview", 93_000)
        character.previews.append(Preview(id=numbered, genre_id=genre_id, file=file))
    world.characters.put(character)
    call.delay_answer(world.settings.preview_seconds)
    return charge


def _take_preview_slot(call: ApiCall) -> None:
    settings = call.world.settings
    token: Token = call.request.scope["sandbox.token"]
    who = token.id if settings.preview_limit_per == "token" else call.account.id
    most = settings.previews_per_minute
    allowance = rate_limits.count_request(call.world, f"preview:{who}", limit=most, seconds=60)
    if not allowance.allowed:
        refused = TooManyRequests("Too many previews. Try again later.")
        told = allowance.headers(call.world.now)
        refused.headers |= {name: told[name] for name in ("Retry-After", "X-RateLimit-Reset")}
        raise refused
