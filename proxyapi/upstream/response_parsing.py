"""Parse untrusted response data: bodies, numbers and headers.

Contract: pure; every function accepts any value and raises nothing but `UnreadableBody`. Spec:
"Endpoints" (envelope), "Limits" (rate headers).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from json import loads
from typing import Any

from proxyapi.upstream.reply import RateLimitStatus

MAX_BODY_BYTES = 10 * 1024 * 1024  # bytes of one answer, unpacked
MAX_JSON_DEPTH = 50  # levels of JSON
MAX_RETRY_AFTER_S = 3600.0  # seconds; a longer Retry-After counts as a mistake
MAX_REQUESTS_PER_MINUTE = 10_000  # requests a minute; likewise
MAX_CREDITS = Decimal(10) ** 9  # credits; likewise, and our tables hold no more


class UnreadableBody(Exception):
    """The body is not JSON, or too large, too deep or encoded in a way we did not request."""


def decode_body(headers: Mapping[str, str], body: bytes) -> bytes:
    """Remove the body's content encoding: we request none, but a proxy may add one."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in {"gzip", "deflate"}:
        try:
            body = zlib.decompressobj(wbits=47).decompress(body, MAX_BODY_BYTES + 1)
        except zlib.error:
            raise UnreadableBody from None
    elif encoding not in {"", "identity"}:
        raise UnreadableBody
    if len(body) > MAX_BODY_BYTES:
        raise UnreadableBody
    return body


def parse_json(body: bytes) -> Any:
    """Parse JSON: fractions become Decimal, NaN and infinities None, and text becomes storable."""
    try:
        # As UTF-8: `loads` would guess other encodings, in which the token was not redacted.
        value = loads(
            str(body, "utf-8-sig"), parse_float=_parse_decimal, parse_constant=lambda _: None
        )
    except (ValueError, RecursionError):  # ValueError: also bad UTF-8, and 4,301 digits
        raise UnreadableBody from None
    _check_depth(value)
    return _strip_unstorable(value) if b"\\u" in body else value


def _strip_unstorable(value: Any) -> Any:
    """Remove NUL and replace half surrogate pairs by "?": no database stores either."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_strip_unstorable(inner) for inner in value]
    if isinstance(value, dict):
        return {_strip_unstorable(name): _strip_unstorable(inner) for name, inner in value.items()}
    return value


def _parse_decimal(text: str) -> Decimal | None:
    # 1e999999999 is a small Decimal, but would be a huge int or string.
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    return number if not number.is_finite() or abs(number.adjusted()) < 40 else None


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise UnreadableBody


def as_mapping(value: Any) -> Mapping[str, Any]:
    """`value` if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def is_resource_id(value: Any) -> bool:
    """Whether the value can be the id of a resource."""
    is_plain = isinstance(value, int | str) and not isinstance(value, bool)
    return is_plain and 0 < len(str(value)) <= 64


def parse_credit_amount(value: Any) -> Decimal | None:
    """Credits from a number or a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    number = _parse_decimal(value) if isinstance(value, str) else Decimal(value)
    if number is None or not number.is_finite():
        return None
    return number if abs(number) < MAX_CREDITS else None


def parse_rate_limit(headers: Mapping[str, str]) -> RateLimitStatus | None:
    """The two X-RateLimit headers; None unless both are present and plausible."""
    limit = _parse_count(headers.get("x-ratelimit-limit"))
    remaining = _parse_count(headers.get("x-ratelimit-remaining"))
    if limit is None or remaining is None or not 0 < limit <= MAX_REQUESTS_PER_MINUTE:
        return None
    return RateLimitStatus(limit, min(remaining, limit))


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: from Retry-After, otherwise from X-RateLimit-Reset by the answer's own
    clock.

    Our own clock is not used, because it may be an hour off the upstream's (pitfall 24).
    """
    header = headers.get("retry-after", "")
    seconds: float | None = _parse_count(header)
    now = _parse_http_date(headers.get("date", ""))
    if seconds is None and now is not None:
        until = _parse_http_date(header)
        reset = _parse_count(headers.get("x-ratelimit-reset"))
        if until is not None:
            seconds = (until - now).total_seconds()
        elif reset is not None:
            seconds = reset - now.timestamp()
    return None if seconds is None else min(max(seconds, 0.0), MAX_RETRY_AFTER_S)


def parse_served_at(headers: Mapping[str, str]) -> datetime | None:
    """When the answer was made, by the service's clock; None for one out of a cache."""
    return None if "age" in headers else _parse_http_date(headers.get("date", ""))


def _parse_count(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


def _parse_http_date(text: str) -> datetime | None:
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return when if when.tzinfo is not None else None
