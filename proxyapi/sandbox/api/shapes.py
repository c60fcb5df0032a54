"""Shapes of answers, for /openapi.json; tests hold the true answers against them."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class SpentShape(BaseModel):
    cost: int
    remaining: int


class CreditsMeta(BaseModel):
    credits: SpentShape


class Envelope(BaseModel, Generic[T]):
    message: str
    status: int
    data: T


class Charged(Envelope[T], Generic[T]):
    meta: CreditsMeta


class ListEnvelope(Envelope[list[T]], Generic[T]):
    meta: Pages
    links: Links


class Pages(BaseModel):
    current_page: int
    per_page: int
    total: int
    last_page: int


class Links(BaseModel):
    first: str
    last: str
    prev: str | None
    next: str | None


class ErrorShape(BaseModel):
    code: str
    message: str
    required: int | None = None
    available: int | None = None


class RefusalShape(BaseModel):
    message: str
    status: int
    error: ErrorShape
    required: int | None = None
    available: int | None = None


class InvalidShape(BaseModel):
    message: str
    errors: dict[str, list[str]]


# Of the account area, for an e-mail that is not verified.
UNVERIFIED: dict[int | str, dict[str, Any]] = {409: {"model": RefusalShape}}


class Credits(BaseModel):
    remaining: int
    total: int
    extra: int


class SubscriptionShape(BaseModel):
    exists: bool
    active: bool
    trial: bool
    plan: str | None
    ends_at: str | None


class AccountShape(BaseModel):
    id: int
    name: str
    email: str
    email_verified: bool
    credits: Credits
    subscription: SubscriptionShape
    created_at: str
    updated_at: str


class CostShape(BaseModel):
    credits: int
    free: int | None = None


class EntryShape(BaseModel):
    label: str
    content_type: str
    credit_spend: str
    transaction_type: str
    created_at: str


class TopUpShape(BaseModel):
    enabled: bool
    type: str | None
    plan_id: int | None
    units: int | None
    enabled_at: str | None
    consecutive_failures: int


class FailureShape(BaseModel):
    code: str
    message: str


class VideoShape(BaseModel):
    status: str | None
    url: str | None
    failure: FailureShape | None


class FilmShape(VideoShape):
    thumbnail_url: str | None = None


class ExportShape(VideoShape):
    id: int


class AssetShape(BaseModel):
    id: int
    position: int
    type: str
    source: str
    source_url: str | None
    text: str
    url: str
    used: bool | None = None  # left out while the order is ignored


class FacelessShape(BaseModel):
    id: int
    video_id: int
    type: str
    title: str | None
    topic: str | None
    script: str | None
    voice_id: int | None
    genre_id: int | None
    image_engine_id: int | None
    clip_engine_id: int | None
    background_id: int | None
    character_id: str | None
    resolution: str | None
    audio: str | None
    aspect_ratio: str | None
    captions: bool | None
    font: str | None
    caption_effect: str | None
    caption_position: str | None
    transition: str | None
    overlay: str | None
    watermark_position: str | None
    animation: str | None
    sfx: str | None
    volume: str | None
    assets: list[AssetShape]
    video: FilmShape
    exports: list[ExportShape]
    created_at: str
    updated_at: str


class EstimateShape(BaseModel):
    cost: int
    available: int
    sufficient: bool
    duration: int


class OptionsShape(BaseModel):
    mandatory: dict[str, list[dict[str, Any]]]
    optional: dict[str, list[dict[str, Any]]]


ListEnvelope.model_rebuild()
