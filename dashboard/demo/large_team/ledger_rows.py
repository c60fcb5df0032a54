"""The generator of the large team's ledger rows in chronological order, with their charges."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from proxyapi.models import JobKind
from proxyapi.operations import (
    EXPORT_OPERATION,
    FACELESS_RENDER_OPERATIONS,
    NEW_IMAGE_OPERATION,
)

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
LOW_BALANCE_CREDITS, TOP_UP_CREDITS = 1_200, 20_000
CONCURRENT_JOBS = 40  # jobs with entries in the same period
REFUND_LABEL = "Refund: {}"


class SeedFeature(NamedTuple):
    """A paid feature: it costs `low` to `high` credits and occurs in proportion to `weight`."""

    operation: str
    label: str
    content_type: str
    low: int
    high: int
    weight: int


SEED_FEATURES: dict[JobKind, tuple[SeedFeature, ...]] = {
    JobKind.FACELESS: (
        SeedFeature("faceless.scripts", "Script generation", "content-prompt", 4, 4, 30),
        SeedFeature(FACELESS_RENDER_OPERATIONS[0], "Faceless video", "ai-visuals", 42, 212, 34),
        SeedFeature("faceless.retry", "Faceless video", "ai-visuals", 42, 212, 6),
        SeedFeature(EXPORT_OPERATION, "Faceless video export", "ai-visuals", 14, 14, 20),
        SeedFeature(NEW_IMAGE_OPERATION, "Image regeneration", "ai-visuals", 2, 2, 10),
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
    """The fields of a job that the ledger needs; `account` is an index."""

    id: uuid.UUID
    account: int
    member_id: int
    kind: JobKind


class SeedEntry(NamedTuple):
    """A ledger row; `charge` and the fields after it are set only if it has a charge."""

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
    """The state of the generator: balances, and the next position of each ledger."""

    random: Random
    balances: dict[int, int]
    positions: dict[int, int] = field(default_factory=dict)
    recent: deque[SeedEntry] = field(default_factory=lambda: deque(maxlen=60))

    def add_entry(
        self, account: int, feature: SeedFeature, amount: int, at: datetime, **fields: object
    ) -> SeedEntry:
        position = self.positions.get(account, 0)
        self.positions[account] = position + 1
        self.balances[account] += amount
        kind = "Debit" if amount < 0 else "Credit"
        return SeedEntry(account, position, feature, amount, kind, at, **fields)  # type: ignore[arg-type]

    def add_debit(self, job: SeedJob, at: datetime) -> SeedEntry:
        """Add a debit: mostly of a job's charge, sometimes of another program on the account."""
        choices = SEED_FEATURES[job.kind]
        (feature,) = self.random.choices(choices, [option.weight for option in choices])
        amount = -self.random.randint(feature.low // 2, feature.high // 2) * 2
        if self.random.random() < OUTSIDE_SHARE:
            by_api = self.random.random() < 0.5
            return self.add_entry(job.account, feature, amount, at, via_api=by_api)
        confidence = self.random.choice(CONFIDENCES)
        entry = self.add_entry(
            job.account, feature, amount, at, via_api=True, charge=self.new_id(),
            confidence=confidence, reason=CONFIDENCE_REASONS[confidence],
            member_id=job.member_id, job=job.id,
        )  # fmt: skip
        self.recent.append(entry)
        return entry

    def add_refund(self, at: datetime) -> SeedEntry:
        """Refund a recent charge."""
        index = self.random.randrange(len(self.recent))
        charged = self.recent[index]
        del self.recent[index]
        feature = charged.feature._replace(label=REFUND_LABEL.format(charged.feature.label.lower()))
        charge_fields = {name: getattr(charged, name) for name in ("charge", "member_id", "job")}
        attribution = {"confidence": "certain", "reason": "It gives back what this charge took."}
        return self.add_entry(
            charged.account,
            feature,
            -charged.amount,
            at,
            via_api=True,
            **charge_fields,
            **attribution,
        )

    def new_id(self) -> uuid.UUID:
        return uuid.UUID(int=self.random.getrandbits(128), version=4)


def generate_entries(
    ledger: SeedLedger, jobs: list[SeedJob], moments: Iterator[datetime], count: int
) -> Iterator[SeedEntry]:
    """Yield `count` rows. Jobs are used in order, with some overlap."""
    for number, at in zip(range(count), moments, strict=False):
        newest = number * len(jobs) // count
        job = jobs[max(0, newest - ledger.random.randrange(CONCURRENT_JOBS))]
        if ledger.balances[job.account] < LOW_BALANCE_CREDITS:
            yield ledger.add_entry(job.account, TOP_UP_FEATURE, TOP_UP_CREDITS, at, via_api=False)
        elif ledger.recent and ledger.random.random() < REFUNDED_SHARE:
            yield ledger.add_refund(at)
        else:
            yield ledger.add_debit(job, at)


def generate_times(random: Random, count: int, days: int, until: datetime) -> Iterator[datetime]:
    """Yield `count` times in order over `days` days, more on workdays and more from year to
    year."""
    first = until.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    weights = []
    for number in range(days):
        weekday_factor = 1.0 if (first + timedelta(days=number)).weekday() < 5 else 0.2
        weights.append(weekday_factor * (1 + number / days) * random.uniform(0.6, 1.4))
    generated, weight_so_far, total_weight = 0, 0.0, sum(weights)
    for number, weight in enumerate(weights):
        weight_so_far += weight
        due = round(count * weight_so_far / total_weight) - generated
        generated += due
        day = first + timedelta(days=number)
        seconds = min(86_399.0, (until - day).total_seconds())
        yield from (
            day + timedelta(seconds=int(at))
            for at in sorted(random.triangular(0, seconds) for _ in range(due))
        )
