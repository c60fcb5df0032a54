"""Requests left per token: this minute by kind of traffic, and the last 30 minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import TruncMinute

from dashboard.shared.token_status import TokenStatus, build_token_status
from proxyapi import rate_limiter, redis_client
from proxyapi.models import ApiCall, Tenant, Token
from proxyapi.rate_limiter import BucketLevel, Priority

MINUTES_SHOWN = 30
BUSIEST_SHOWN = 8  # tokens; the others are collapsed
THIS_MINUTE = timedelta(milliseconds=rate_limiter.WINDOW_MS)
PEOPLE, KEYS, WATCHING, LEDGER, OTHER = "people", "keys", "watching", "ledger", "other"
KIND_OF_PRIORITY = {
    Priority.PERSON: PEOPLE,
    Priority.GATEWAY: KEYS,
    Priority.SETTLEMENT: WATCHING,
    Priority.POLLING: WATCHING,
    Priority.BATCH: KEYS,
    Priority.LEDGER_SYNC: LEDGER,
}
KIND_LABELS = {
    PEOPLE: "people",
    KEYS: "API keys and batches",
    WATCHING: "watching",
    LEDGER: "ledger",
    OTHER: "not available",
}
BLOCK_SHARE = 0.832  # of the place of a block, the rest is the gap


@dataclass(frozen=True, slots=True)
class UseBar:
    """A block or a part of a column; lengths in percent. `tone` is the end of its CSS class."""

    tone: str
    x: float
    width: float
    y: float = 0.0
    height: float = 100.0


@dataclass(frozen=True, slots=True)
class TokenUse:
    """`remaining` is None if Redis does not answer: then `blocks` is empty."""

    owner: str
    initials: str
    last_four: str
    status: TokenStatus
    remaining: int | None
    blocks: tuple[UseBar, ...]
    columns: tuple[UseBar, ...]
    sentence: str
    minutes_sentence: str


@dataclass(frozen=True, slots=True)
class RequestUse:
    shown: tuple[TokenUse, ...]
    others: tuple[TokenUse, ...]
    limit: int


def load_request_use(tenant: Tenant, tokens: Sequence[Token], now: datetime) -> RequestUse:
    """Two queries, and one read from Redis per token that works."""
    since = now - timedelta(minutes=MINUTES_SHOWN)
    calls = ApiCall.objects.filter(tenant=tenant, sent_at__gt=since).order_by()
    this_minute = calls.filter(sent_at__gt=now - THIS_MINUTE).values_list("token", "priority")
    by_minute = calls.annotate(minute=TruncMinute("sent_at")).values_list(
        "token", "priority", "minute"
    )
    used: dict[UUID, Counter[str]] = {token.pk: Counter() for token in tokens}
    for token_id, priority, count in this_minute.annotate(count=Count("pk")):
        used.get(token_id, Counter())[kind_of(priority)] += count
    minutes: dict[UUID, Counter[tuple[int, str]]] = {token.pk: Counter() for token in tokens}
    for token_id, priority, minute, count in by_minute.annotate(count=Count("pk")):
        ago = int((now.replace(second=0, microsecond=0) - minute).total_seconds() // 60)
        minutes.get(token_id, Counter())[ago, kind_of(priority)] += count
    uses = [build_token_use(token, used[token.pk], minutes[token.pk]) for token in tokens]
    # The sort is stable: tokens that are equally busy stay in their order.
    order = sorted(range(len(uses)), key=lambda index: -sum(minutes[tokens[index].pk].values()))
    ranked = [uses[index] for index in order]
    return RequestUse(
        shown=tuple(ranked[:BUSIEST_SHOWN]),
        others=tuple(ranked[BUSIEST_SHOWN:]),
        limit=rate_limiter.DEFAULT_REQUESTS_PER_MINUTE,
    )


def kind_of(priority: int | None) -> str:
    return OTHER if priority is None else KIND_OF_PRIORITY[Priority(priority)]


def build_token_use(
    token: Token, used: Mapping[str, int], minutes: Mapping[tuple[int, str], int]
) -> TokenUse:
    status = build_token_status(token)
    level = peek_level(token) if status.works else None
    counts = split_limit(used, level) if level else {}
    return TokenUse(
        owner=str(token.owner),
        initials=token.owner.initials,
        last_four=token.last_four,
        status=status,
        remaining=level.remaining if level else None,
        blocks=tuple(iter_blocks(counts, level.limit)) if level else (),
        columns=tuple(iter_columns(minutes)),
        sentence=minute_sentence(counts, level.remaining) if level else "",
        minutes_sentence=f"{sum(minutes.values())} requests in the last {MINUTES_SHOWN} minutes",
    )


def peek_level(token: Token) -> BucketLevel | None:
    try:
        return rate_limiter.peek_bucket(redis_client.connect_redis(), token.bucket)
    except rate_limiter.RateLimiterUnavailable:
        return None


def split_limit(used: Mapping[str, int], level: BucketLevel) -> dict[str, int]:
    """Return the blocks by tone. What is not free and no call of ours explains is not available:
    another program used it, or the rate limiter was emptied and does not know what is left."""
    spent, counts = max(0, level.limit - level.remaining), dict[str, int]()
    for kind in (PEOPLE, KEYS, WATCHING, LEDGER):
        counts[kind] = min(used.get(kind, 0), spent - sum(counts.values()))
    counts[OTHER] = spent - sum(counts.values())
    kept = min(level.remaining, rate_limiter.reserved_for_people(level.limit))
    return {**counts, "free": level.remaining - kept, "kept": kept}


def iter_blocks(counts: Mapping[str, int], limit: int) -> Iterator[UseBar]:
    place, index = 100 / limit, 0
    for tone, count in counts.items():
        for _ in range(count):
            yield UseBar(tone, (index + (1 - BLOCK_SHARE) / 2) * place, BLOCK_SHARE * place)
            index += 1


def iter_columns(minutes: Mapping[tuple[int, str], int]) -> Iterator[UseBar]:
    """One column a minute, the present one last, stacked; the height is a share of the limit."""
    place, tops = 100 / MINUTES_SHOWN, Counter[int]()
    for (ago, kind), count in sorted(
        minutes.items(), key=lambda item: list(KIND_LABELS).index(item[0][1])
    ):
        if not 0 <= ago < MINUTES_SHOWN:
            continue
        top = min(tops[ago] + count, rate_limiter.DEFAULT_REQUESTS_PER_MINUTE)
        share = 100 / rate_limiter.DEFAULT_REQUESTS_PER_MINUTE
        height = (top - tops[ago]) * share
        x = (MINUTES_SHOWN - 1 - ago + (1 - BLOCK_SHARE) / 2) * place
        yield UseBar(kind, x, BLOCK_SHARE * place, 100 - top * share, height)
        tops[ago] = top


def minute_sentence(counts: Mapping[str, int], remaining: int) -> str:
    """ "This minute: people 1, API keys 2, watching 2, ledger 2, free 23"."""
    kinds: Iterable[str] = (f"{label} {counts[kind]}" for kind, label in KIND_LABELS.items())
    free = f"free {remaining}, of them {counts['kept']} kept for people"
    return f"This minute: {', '.join(kinds)}, {free}"
