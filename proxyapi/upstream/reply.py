"""The values of an upstream answer, without the HTTP library that received it.

Contract: values only. Credits are Decimal and positive; the rate limit counts requests of one token
in the current window (spec, "Limits").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class RateLimitStatus:
    """The X-RateLimit headers: requests a minute, and how many of them are left."""

    limit: int
    remaining: int


@dataclass(frozen=True, slots=True)
class ReplyCredits:
    """`meta.credits` of a charging answer; a part that is missing or no number is None."""

    cost: Decimal | None
    remaining: Decimal | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was received, with the token redacted; header names are lower-case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """A 2xx answer. Numbers with a fraction in `data` and `meta` are Decimal, never float."""

    data: Any
    meta: Mapping[str, Any]
    credits: ReplyCredits | None
    rate_limit: RateLimitStatus | None
    status: int
    served_at: datetime | None = None  # its Date header, by the service's clock
    answer: Answer | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """The readable parts of an error answer, in the upstream's own words."""

    status: int | None = None
    code: str = ""
    message: str = ""
    fields: Mapping[str, list[str]] = field(default_factory=dict)
    required: Decimal | None = None
    available: Decimal | None = None
    retry_after: float | None = None
    rate_limit: RateLimitStatus | None = None
    # An API answer of the shape and code that the spec has for this status, not just some bytes
    is_documented: bool = False
