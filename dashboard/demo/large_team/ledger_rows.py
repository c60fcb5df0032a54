"""The stream of a made-up team's ledger rows in the order of their time, with their charges."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from proxyapi.models import JobKind

COMMON_KINDS = (*[JobKind.FACELESS] * 16, *[JobKind.CLIP] * 4, *[JobKind.STORYBOARD] * 3)
ALL_KINDS = (*COMMON_KINDS * 8, *[JobKind.CHARACTER] * 2, JobKind.CLONE)
CONFIDENCE_REASONS = {
    "certain": "The amount and the time fit this charge alone.",
    "likely": "Two charges of this amount were open; this is the one sent first.",
    "weak": "About the amount that was quoted, at about the time.",
}
CONFIDENCES = (*["certain"] * 93, *["likely"] * 6, "weak")
GIVEN_NAMES = (
    *("Priya", "Luca", "Sofia", "Mira", "Jonas", "Thea", "Vera", "Emil", "Nora", "Amir", "Chen"),
    *("Ines", "Tomas", "Aisha", "Karl", "Yuki", "Rosa", "Pavel", "Leila", "Oskar", "Maja"),
)
FAMILY_NAMES = (
    *("Raman", "Moretti", "Lindqvist", "Sandvik", "Weber", "Costa", "Nakamura", "Okafor"),
    *("Brandt", "Haddad", "Novak", "Silva", "Berg", "Kowalski", "Dubois", "Iversen", "Petrov"),
)
TITLE_OPENINGS = ("How", "Why", "When", "Where", "What happens when")
TITLE_SUBJECTS = (
    *("lighthouses", "glaciers", "night trains", "octopuses", "bees", "deserts", "tides"),
    *("old maps", "paper mills", "volcanoes", "breads", "bridges", "whales", "northern lights"),
)
TITLE_PREDICATES = (
    "survive storms",
    "remember",
    "move at night",
    "change cities",
    "find their way",
    "sleep",
)
OUTSIDE_SHARE, REFUNDED_SHARE = 0.05, 0.01  # shares of the rows
LOW_BALANCE_CREDITS, TOP_UP_CREDITS = 1_200, 20_000  # credits
CONCURRENT_JOBS = 40  # jobs that are worked on at the same time
REFUND_LABEL = "Refund: {}"


class SeedFeature(NamedTuple):
    """One thing that is paid for: from `low` to `high` credits, `weight` times as often as 1."""

    operation: str
    label: str
    content_type: str
    low: int
    high: int
    weight: int


SEED_FEATURES: dict[JobKind, tuple[SeedFeature, ...]] = {
    JobKind.FACELESS: (
        SeedFeature("faceless.scripts", "Script generation", "content-prompt", 4, 4, 30),
        SeedFeature("faceless.render", "Faceless video", "ai-visuals", 42, 212, 34),
        SeedFeature("faceless.retry", "Faceless video", "ai-visuals", 42, 212, 6),
        SeedFeature("faceless.export", "Faceless video export", "ai-visuals", 14, 14, 20),
        SeedFeature("ai_visuals.regenerate", "Image regeneration", "ai-visuals", 2, 2, 10),
    ),
    JobKind.CLIP: (
        SeedFeature("text_to_video.create", "Text to video", "text-to-video", 49, 196, 1),
    ),
    JobKind.STORYBOARD: (
        SeedFeature("text_to_scene.prompt", "Scene prompt", "content-prompt", 4, 4, 3),
        SeedFeature("text_to_scene.clips", "Scene clip", "text-to-scene", 49, 98, 5),
        SeedFeature("text_to_scene.render", "Text to scene", "text-to-scene", 20, 60, 2),
    ),
    JobKind.CHARACTER: (
        SeedFeature("characters.preview", "Character preview", "character", 8, 8, 3),
        SeedFeature("characters.train", "Character training", "character", 300, 300, 1),
    ),
    JobKind.CLONE: (
        SeedFeature("voice_clones.create", "Voice clone slot", "voice-clone", 1000, 1000, 1),
    ),
}


class SeedJob(NamedTuple):
    """A job, as far as the ledger is concerned; `account` is a number."""

    id: uuid.UUID
    account: int
    member_id: int
    kind: JobKind


class SeedEntry(NamedTuple):
    """A ledger row; `charge` and what comes after it only where it was matched."""

    account: int
    position: int
    feature: SeedFeature
    amount: int
    kind: str
    at: datetime
    via_api: bool
    charge: uuid.UUID | None = None
    confidence: str = ""
    reason: str = ""
    member_id: int | None = None
    job: uuid.UUID | None = None


TOP_UP_FEATURE = SeedFeature("", "Automatic top-up", "credits", TOP_UP_CREDITS, TOP_UP_CREDITS, 1)


@dataclass(slots=True)
class SeedLedger:
    """What is true while the rows are made: the balances, and the next position of each ledger."""

    random: Random
    balances: dict[int, int]
    positions: dict[int, int] = field(default_factory=dict)
    recent: deque[SeedEntry] = field(default_factory=lambda: deque(maxlen=60))

    def add_entry(
        self, account: int, feature: SeedFeature, amount: int, at: datetime, **more: object
    ) -> SeedEntry:
        position = self.positions.get(account, 0)
        self.positions[account] = position + 1
        self.balances[account] += amount
        kind = "Debit" if amount < 0 else "Credit"
        return SeedEntry(account, position, feature, amount, kind, at, **more)  # type: ignore[arg-type]

    def add_debit(self, film: SeedJob, at: datetime) -> SeedEntry:
        """A debit: mostly of a job's charge, sometimes of another program on the account."""
        choices = SEED_FEATURES[film.kind]
        (feature,) = self.random.choices(choices, [one.weight for one in choices])
        amount = -self.random.randint(feature.low // 2, feature.high // 2) * 2
        if self.random.random() < OUTSIDE_SHARE:
            by_api = self.random.random() < 0.5
            return self.add_entry(film.account, feature, amount, at, via_api=by_api)
        confidence = self.random.choice(CONFIDENCES)
        made = self.add_entry(
            film.account, feature, amount, at, via_api=True, charge=self.new_id(),
            confidence=confidence, reason=CONFIDENCE_REASONS[confidence],
            member_id=film.member_id, job=film.id,
        )  # fmt: skip
        self.recent.append(made)
        return made

    def add_refund(self, at: datetime) -> SeedEntry:
        """The credits of a recent charge come back."""
        index = self.random.randrange(len(self.recent))
        given = self.recent[index]
        del self.recent[index]
        feature = given.feature._replace(label=REFUND_LABEL.format(given.feature.label.lower()))
        more = {name: getattr(given, name) for name in ("charge", "member_id", "job")}
        told = {"confidence": "certain", "reason": "It gives back what this charge took."}
        return self.add_entry(
            given.account, feature, -given.amount, at, via_api=True, **more, **told
        )

    def new_id(self) -> uuid.UUID:
        return uuid.UUID(int=self.random.getrandbits(128), version=4)


def generate_entries(
    stream: SeedLedger, films: list[SeedJob], moments: Iterator[datetime], count: int
) -> Iterator[SeedEntry]:
    """So many rows. The films are worked on in their order, a few at the same time."""
    for made, at in zip(range(count), moments, strict=False):
        newest = made * len(films) // count
        film = films[max(0, newest - stream.random.randrange(CONCURRENT_JOBS))]
        if stream.balances[film.account] < LOW_BALANCE_CREDITS:
            yield stream.add_entry(film.account, TOP_UP_FEATURE, TOP_UP_CREDITS, at, via_api=False)
        elif stream.recent and stream.random.random() < REFUNDED_SHARE:
            yield stream.add_refund(at)
        else:
            yield stream.add_debit(film, at)


def generate_times(random: Random, count: int, days: int, until: datetime) -> Iterator[datetime]:
    """So many moments in order, over so many days: working hours mostly, more from year to year."""
    first = until.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    weights = []
    for number in range(days):
        busy = 1.0 if (first + timedelta(days=number)).weekday() < 5 else 0.2
        weights.append(busy * (1 + number / days) * random.uniform(0.6, 1.4))
    made, given, whole = 0, 0.0, sum(weights)
    for number, weight in enumerate(weights):
        given += weight
        due = round(count * given / whole) - made
        made += due
        day = first + timedelta(days=number)
        seconds = min(86_399.0, (until - day).total_seconds())
        yield from (
            day + timedelta(seconds=int(at))
            for at in sorted(random.triangular(0, seconds) for _ in range(due))
        )
