"""Previews: candidates in a genre's hand, five calls a minute, promised and then drawn."""

from __future__ import annotations

from proxyapi.sandbox import limits, money, pictures
from proxyapi.sandbox.characters.record import GENRES
from proxyapi.sandbox.errors import Invalid, TooManyRequests
from proxyapi.sandbox.gate import Call
from proxyapi.sandbox.holdings import Character, Preview
from proxyapi.sandbox.money import Use
from proxyapi.sandbox.records import Charge, Token


def draw(call: Call, character: Character, genre_id: int) -> Charge | None:
    """Add candidates; a charge if previews cost anything. Raises 422, 429 and 402."""
    world = call.world
    genre = next((it for it in GENRES if it.id == genre_id), None)
    if genre is None:
        raise Invalid({"genre_id": ["The selected genre id is invalid."]})
    _take_allowance(call)
    price = money.price(world, "character_preview")
    resource = f"character:{character.id}"
    use = Use("character_preview", price, resource, "Character preview", "character")
    money.require(call, use)
    charge = money.charge(call, use) if price else None
    for _ in range(world.settings.previews_per_call):
        file = pictures.promise(
            world,
            extension="png",
            kind="portraits",
            genre=genre.hand,
            seed=world.chance("portrait").getrandbits(32),
            photo=character.photo,
        )
        numbered = world.plausible_id("preview", 93_000)
        character.previews.append(Preview(id=numbered, genre_id=genre_id, file=file))
    world.characters.put(character)
    call.keep_waiting(world.settings.preview_seconds)
    return charge


def _take_allowance(call: Call) -> None:
    settings = call.world.settings
    token: Token = call.request.scope["sandbox.token"]
    who = token.id if settings.preview_limit_per == "token" else call.account.id
    most = settings.previews_per_minute
    allowance = limits.take(call.world, f"preview:{who}", limit=most, seconds=60)
    if not allowance.allowed:
        refused = TooManyRequests("Too many previews. Try again later.")
        told = allowance.headers(call.world.now)
        refused.headers |= {name: told[name] for name in ("Retry-After", "X-RateLimit-Reset")}
        raise refused
