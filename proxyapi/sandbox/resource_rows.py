"""The rows of what an account holds besides videos: clips, searches, characters, voice clones.

Instants are seconds since the epoch, UTC; credits are whole numbers.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from proxyapi.sandbox.records import Row


class Clip(Row):
    """A text-to-video asset. `modifiers` are those of the order, defaults filled in."""

    id: int
    account_id: int
    model: str
    prompt: str
    modifiers: dict[str, Any] = Field(default_factory=dict)
    status: str = "draft"
    file: str | None = None
    failure: dict[str, str] | None = None
    job_id: int | None = None
    charge_id: int
    created_at: float


class Search(Row):
    """A fruitful search of an account. Its ideas are found anew from the keyword each time."""

    id: int
    account_id: int
    keyword: str
    network: str
    idea_ids: list[int]
    found_at: float  # when its ideas are in the list


class Preview(Row):
    """A candidate for a character's looks."""

    id: int
    genre_id: int
    file: str


class Character(Row):
    id: int
    uuid: str
    account_id: int
    photo: str  # the uploaded image's file
    status: str | None = None  # None until it is trained
    name: str | None = None
    slug: str | None = None
    age: int | None = None
    gender: str = "unknown"
    previews: list[Preview] = Field(default_factory=list)
    preview_id: int | None = None
    charge_id: int | None = None
    job_id: int | None = None
    created_at: float


class Clone(Row):
    """A voice clone. `voice_id` is its number among the voices, shown when it is completed."""

    id: int
    account_id: int
    voice_id: int
    name: str
    gender: str
    seed: int  # of the voice, from the samples
    status: str
    file: str | None = None
    failure: dict[str, str] | None = None
    job_id: int | None = None
    created_at: float
