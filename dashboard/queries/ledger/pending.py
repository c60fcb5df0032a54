"""Charges that the ledger does not show yet: held, sent, in doubt, or told and not booked.

They stand above the newest rows and count nowhere: neither in the sums nor in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from dashboard.queries.address import job_url
from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.words import feature
from dashboard.queries.videos.cost import Amount, amount_of
from proxyapi.ledger.matching_rules import MATCH_BOOKING_DELAY
from proxyapi.models import Charge, ChargeState

MOST = 20  # that are listed; who has more is told so
# Glyph, word, and what it means.
STATES: dict[str, tuple[str, str, str]] = {
    ChargeState.HELD: ("waiting", "Held", "not sent yet"),
    ChargeState.SENDING: ("running", "Sent", "no answer yet"),
    ChargeState.UNKNOWN: ("unknown", "Unknown", "the answer got lost"),
}
CHARGED = ("waiting", "Charged", "not booked yet")


@dataclass(frozen=True, slots=True)
class Waiting:
    """One charge as a row. `state` is the look's data-state, `note` what its word means."""

    when: str
    what: str
    kind: str
    who: str
    initials: str
    job: str
    job_url: str
    state: str
    word: str
    note: str
    amount: Amount


@dataclass(frozen=True, slots=True)
class Pending:
    rows: tuple[Waiting, ...] = ()
    more: bool = False  # than are listed

    @property
    def says(self) -> str:
        if self.more:
            return f"the newest {MOST} charges"
        return "1 charge" if len(self.rows) == 1 else f"{len(self.rows)} charges"


def pending_of(scope: Scope) -> Pending:
    """One query; none below the newest rows, and where the filters leave no charge of ours."""
    if not has_newest(scope) or not has_ours(scope.filters):
        return Pending()
    found = list(charges(scope)[: MOST + 1])
    now = timezone.now()
    rows = tuple(waiting(charge, scope, now) for charge in found[:MOST])
    return Pending(rows, len(found) > MOST)


def has_newest(scope: Scope) -> bool:
    filters = scope.filters
    return not filters.after and not filters.oldest and scope.period.last >= scope.today


def has_ours(filters: Filters) -> bool:
    """A charge has no label of the service, and a search looks in the ledger alone."""
    theirs = filters.direction == "in" or filters.match == "no" or filters.source == "web"
    return not (theirs or filters.label or filters.search)


def charges(scope: Scope) -> QuerySet[Charge]:
    """The newest first; of a charge that was sent its sending counts."""
    ours = Charge.objects.filter(account_id__in=scope.ids)
    # Each half has an index of its own, and few rows.
    unbooked = ours.holding().values("pk").union(ours.without_debit().values("pk"), all=True)
    start, end = scope.period.moments(scope.zone)
    rows = Charge.objects.filter(pk__in=unbooked).annotate(at=Coalesce("sent_at", "created_at"))
    rows = rows.filter(asked(scope), at__gte=start, at__lt=end).order_by("-at", "pk")
    return rows.select_related("member", "job")


def asked(scope: Scope) -> Q:
    filters = scope.filters
    wanted = {"member": filters.member, "job": filters.job, "operation": filters.feature}
    return Q(**{name: value for name, value in wanted.items() if value})


def waiting(charge: Charge, scope: Scope, now: datetime) -> Waiting:
    job, (state, word, note) = charge.job, told(charge, scope, now)
    amount = amount_of(charge)
    return Waiting(
        when=clock(charge.sent_at or charge.created_at, scope),
        what=feature(charge.operation),
        kind=str(job.wanted.get("type", "")) if job else "",
        who=str(charge.member),
        initials=charge.member.initials,
        job=job.title if job else "",
        job_url=job_url(job),
        state=state,
        word=word,
        note=note,
        amount=Amount(-amount.value, "out") if charge.is_charged else amount,
    )


def told(charge: Charge, scope: Scope, now: datetime) -> tuple[str, str, str]:
    if not charge.is_charged:
        return STATES[charge.state]
    since = charge.settled_at
    if since is None or now - since <= MATCH_BOOKING_DELAY:
        return CHARGED
    return "late", "Charged", f"not booked since {clock(since, scope)}"


def clock(moment: datetime, scope: Scope) -> str:
    """Of today the time, else the day."""
    at = moment.astimezone(scope.zone)
    return f"{at:%H:%M}" if at.date() == scope.today else f"{at.day} {at:%b}"
