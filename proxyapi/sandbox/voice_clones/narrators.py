"""Who can narrate an account's videos: the catalogue's voices, and its own finished clones."""

from __future__ import annotations

from typing import NamedTuple

from proxyapi.sandbox import catalogue
from proxyapi.sandbox.catalogue.voices import VOICES, Voice
from proxyapi.sandbox.resource_rows import Clone
from proxyapi.sandbox.world import World

LANGUAGE = "English"  # of a clone, in the list; the specification shows none


class Narrator(NamedTuple):
    code: str | None  # of the language; None speaks that of the script
    gender: str
    seed: int


def list_voices(world: World, account_id: int) -> list[Voice]:
    """As GET /faceless/options lists them, the account's own last."""
    own = [Voice(it.voice_id, it.name, LANGUAGE, it.gender) for it in _finished(world, account_id)]
    return [*VOICES, *own]


def find_narrator(world: World, account_id: int, voice_id: int | None) -> Narrator | None:
    """None for a voice that the account does not have."""
    stock = catalogue.get_voice(voice_id)
    if stock is not None:
        return Narrator(stock.code, stock.gender, stock.id)
    own = next((it for it in _finished(world, account_id) if it.voice_id == voice_id), None)
    return Narrator(None, own.gender, own.seed) if own is not None else None


def _finished(world: World, account_id: int) -> list[Clone]:
    return [it for it in world.clones if it.account_id == account_id and it.status == "completed"]
