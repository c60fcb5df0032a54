"""A video as a card shows it. All of it is the same for every member, so it can be pushed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.urls import reverse

from dashboard.models import Membership
from dashboard.queries.videos.cost import Amount, cost_of
from dashboard.queries.videos.progress import Bar, Fresh, bar_of, elapsed_of, fresh_of
from dashboard.queries.videos.sayings import Told, short, total
from dashboard.queries.videos.states import Shown, open_charge, shown
from dashboard.queries.videos.usual import Class, Usual, class_of_job
from dashboard.queries.videos.words import type_of
from dashboard.templatetags.reelroom import playtime
from proxyapi import pricing
from proxyapi.models import Charge, Job, JobState

Rows = TypeVar("Rows", bound=Job)
ACTIONABLE = frozenset({"failed", "draft"})  # states in which some member has something to do


@dataclass(frozen=True, slots=True)
class Card:
    """`length` is the film's, as 1:02; `tall` stands on its own ground; `said` is read out. A
    hidden one has no `url`: its page is closed."""

    id: UUID
    url: str
    title: str
    state: Shown
    line: str
    cost: Amount
    say: str
    bar: Bar | None
    fresh: Fresh | None
    length: str
    tall: bool
    still_url: str
    actionable: bool
    said: str
    created_at: datetime

    @property
    def acts_url(self) -> str:
        return reverse("video-acts", args=[self.id])


def rows(jobs: QuerySet[Rows]) -> QuerySet[Rows]:
    """The jobs with all that a card or a page reads: two queries, whatever their number."""
    charges = Charge.objects.order_by("created_at", "pk")
    owner = Membership.objects.filter(team__vault=OuterRef("vault"), user=OuterRef("token__owner"))
    return (
        jobs.select_related("member", "account", "token", "token__owner")  # type: ignore[return-value]
        .annotate(token_owner_left=~Exists(owner))
        .defer("account__costs", "token__sealed")
        .prefetch_related(Prefetch("charges", queryset=charges))
    )


def tell(job: Job, usuals: Mapping[Class, Usual], now: datetime) -> Told:
    """Everything known about one of the `rows`, judged as of now."""
    charges = list(job.charges.all())
    standing = open_charge(charges)
    late = job.state == JobState.RUNNING and usuals[class_of_job(job)].is_late(elapsed_of(job, now))
    state = shown(job, standing, job.token, late=late)
    return Told(
        job=job,
        token=job.token,
        token_owner_left=job.token_owner_left,  # type: ignore[attr-defined]  # see `rows`
        state=state,
        charges=charges,
        open_charge=standing,
        retry_price=pricing.estimate_retry_price(job),
        now=now,
    )


def card_of(told: Told, usuals: Mapping[Class, Usual]) -> Card:
    job = told.job
    return Card(
        id=job.pk,
        url=reverse("video", args=[job.pk]) if job.hidden_at is None else "",
        title=job.title,
        state=told.state,
        line=f"{type_of(job)}, {job.member.first_name}",
        cost=cost_of(told.charges, told.open_charge),
        say=short(told),
        bar=bar_of(job, told.state, usuals[class_of_job(job)], told.now),
        fresh=fresh_of(job, told.state, told.open_charge, told.now),
        length=playtime(job.seconds) if job.seconds else "",
        tall=is_tall(str(job.wanted.get("aspect_ratio") or "")),
        still_url=still_of(job, told.state),
        actionable=told.state.name in ACTIONABLE or job.hidden_at is not None,
        said=total(told),
        created_at=job.created_at,
    )


def still_of(job: Job, state: Shown) -> str:
    """Where the card's picture comes from: a moment of the film; the service has no posters."""
    if state.name != "completed" or not job.media_url or job.hidden_at is not None:
        return ""
    return f"{reverse('video-media', args=[job.pk])}?still=1#t=1.2"


def is_tall(ratio: str) -> bool:
    wide, _, high = ratio.replace("x", ":").partition(":")
    return wide.isdigit() and high.isdigit() and int(high) > int(wide)
