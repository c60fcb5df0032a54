"""Shapes of answers about clips, ideas, characters and voice clones, for /openapi.json."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from proxyapi.sandbox.api.shapes import CreditsMeta, FailureShape, Links, Pages


class RateShape(BaseModel):
    credits_per_second: float
    resolution: str | None = None
    audio: str | None = None


class ModelShape(BaseModel):
    id: int
    name: str
    slug: str
    description: str
    type: str
    modifiers: dict[str, dict[str, Any]]
    cost: list[RateShape]


class ClipPrice(BaseModel):
    model: str
    cost: int
    available: int
    sufficient: bool
    credits_per_second: float
    modifiers: dict[str, Any]


class ClipShape(BaseModel):
    id: int
    model: str
    prompt: str
    modifiers: dict[str, Any]
    status: str
    url: str | None
    failure: FailureShape | str | None
    created_at: str


class ClipData(BaseModel):
    asset: ClipShape


class IdeaShape(BaseModel):
    id: int
    keyword: str
    network: str
    title: str
    hook: str
    format: str
    volume: int
    competition: str
    created_at: str


class IdeasFoundShape(BaseModel):
    message: str
    status: int
    data: list[IdeaShape]
    meta: CreditsMeta


class IdeasPage(BaseModel):
    message: str
    status: int
    data: list[IdeaShape]
    meta: Pages
    links: Links


class NamedShape(BaseModel):
    id: int
    name: str
    slug: str


class PreviewShape(BaseModel):
    id: int
    genre_id: int
    url: str


class CharacterShape(BaseModel):
    id: int
    uuid: str
    name: str | None
    slug: str | None
    age: int | None
    gender: str
    status: str
    image_url: str
    previews: list[PreviewShape]
    preview_id: int | None
    created_at: str


class PreviewsShape(BaseModel):
    """`meta` is there when previews cost anything."""

    message: str
    status: int
    data: CharacterShape
    meta: CreditsMeta | None = None


class SlotsShape(BaseModel):
    available: int | bool
    can_buy: bool
    cost: int


class CloneShape(BaseModel):
    id: int
    name: str
    gender: str
    status: str
    preview_url: str | None
    voice_id: int | None
    failure: FailureShape | None
    created_at: str


class CloneCreatedShape(BaseModel):
    """`meta` is there when a slot was bought."""

    message: str
    status: int
    data: CloneShape
    meta: CreditsMeta | None = None
