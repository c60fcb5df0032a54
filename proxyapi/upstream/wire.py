"""What comes over the wire, made safe to look at: bodies, numbers and headers.

Contract: pure; every function takes anything at all and raises nothing but `Unreadable`.
Spec: "Endpoints" (envelope), "Limits" (rate headers).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from json import loads
from typing import Any

from proxyapi.upstream.reply import Allowance

LARGEST = 10 * 1024 * 1024  # bytes of one answer, unpacked
DEEPEST = 50  # levels of JSON
LONGEST_WAIT = 3600.0  # seconds; a Retry-After beyond it is taken for a mistake
LARGEST_LIMIT = 10_000  # requests a minute; likewise
LARGEST_AMOUNT = Decimal(10) ** 9  # credits; likewise, and our tables hold no more

PASSED_ON = frozenset(
    {
        "allow",
        "content-type",
        "retry-after",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    }
)


class Unreadable(Exception):
    """The body is not JSON, or too large, too deep or packed in a way we did not ask for."""


def unpack(headers: Mapping[str, str], body: bytes) -> bytes:
    """The body without its content encoding: we ask for none, a proxy may add one."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in {"gzip", "deflate"}:
        try:
            body = zlib.decompressobj(wbits=47).decompress(body, LARGEST + 1)
        except zlib.error:
            raise Unreadable from None
    elif encoding not in {"", "identity"}:
        raise Unreadable
    if len(body) > LARGEST:
        raise Unreadable
    return body


def parse(body: bytes) -> Any:
    """The JSON in `body`: fractions as Decimal, NaN and infinities None, text as it can be kept."""
    try:
        # As UTF-8, which JSON is: `loads` would guess others, in which a token was not looked for.
        value = loads(str(body, "utf-8-sig"), parse_float=_fraction, parse_constant=lambda _: None)
    except (ValueError, RecursionError):  # ValueError: also bad UTF-8, and 4,301 digits
        raise Unreadable from None
    _refuse_depth(value)
    return _kept(value) if b"\\u" in body else value


def _kept(value: Any) -> Any:
    """Without NUL, and with ? for half a surrogate pair: no database takes either."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_kept(inner) for inner in value]
    if isinstance(value, dict):
        return {_kept(name): _kept(inner) for name, inner in value.items()}
    return value


def _fraction(text: str) -> Decimal | None:
    # 1e999999999 is a cheap Decimal, but a ruinous int or string.
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    return number if not number.is_finite() or abs(number.adjusted()) < 40 else None


def _refuse_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise Unreadable


def passed_on(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Those headers of an answer that may be shown to a caller of the gateway."""
    return {name: value for name, value in headers.items() if name in PASSED_ON}


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def is_id(value: Any) -> bool:
    """Whether it can be the id of a resource."""
    is_plain = isinstance(value, int | str) and not isinstance(value, bool)
    return is_plain and 0 < len(str(value)) <= 64


def amount(value: Any) -> Decimal | None:
    """An amount of credits in whatever form it came; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    number = _fraction(value) if isinstance(value, str) else Decimal(value)
    if number is None or not number.is_finite():
        return None
    return number if abs(number) < LARGEST_AMOUNT else None


def allowance(headers: Mapping[str, str]) -> Allowance | None:
    """The two X-RateLimit headers; None unless both are there and make sense."""
    limit = _count(headers.get("x-ratelimit-limit"))
    remaining = _count(headers.get("x-ratelimit-remaining"))
    if limit is None or remaining is None or not 0 < limit <= LARGEST_LIMIT:
        return None
    return Allowance(limit, min(remaining, limit))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: from Retry-After, else from X-RateLimit-Reset by the answer's own clock.

    Our clock is left out of it, since it may be an hour off the upstream's (pitfall 24).
    """
    told = headers.get("retry-after", "")
    seconds: float | None = _count(told)
    now = _date(headers.get("date", ""))
    if seconds is None and now is not None:
        until = _date(told)
        reset = _count(headers.get("x-ratelimit-reset"))
        if until is not None:
            seconds = (until - now).total_seconds()
        elif reset is not None:
            seconds = reset - now.timestamp()
    return None if seconds is None else min(max(seconds, 0.0), LONGEST_WAIT)


def _count(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


def _date(text: str) -> datetime | None:
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return when if when.tzinfo is not None else None
