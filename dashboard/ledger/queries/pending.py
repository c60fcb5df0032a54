"""Charges without a ledger row yet: held, sent, unknown, or charged and not booked.

They are listed above the newest rows and are in no total and not in the export.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.scope import LedgerScope, jobs_with_label
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.videos.charge_status import charge_label
from dashboard.shared.videos.cost import CreditAmount, charge_amount
from proxyapi.ledger.matching_rules import MATCH_BOOKING_DELAY
from proxyapi.models import Charge

MAX_PENDING_CHARGES = 20  # rows listed
# State, word, note.
CHARGED_LABEL = ("waiting", "Charged", "not in the ledger yet")


@dataclass(frozen=True, slots=True)
class PendingCharges:
    rows: tuple[dict[str, Any], ...] = ()
    has_more: bool = False

    @property
    def count_text(self) -> str:
        if self.has_more:
            return f"the newest {MAX_PENDING_CHARGES} charges"
        return "1 charge" if len(self.rows) == 1 else f"{len(self.rows)} charges"


def load_pending_charges(scope: LedgerScope) -> PendingCharges:
    """One query; none below the newest rows, or if the filters exclude every charge."""
    if not has_newest_rows(scope) or not can_include_charges(scope.filters):
        return PendingCharges()
    charges = list(pending_charges_query(scope)[: MAX_PENDING_CHARGES + 1])
    now = timezone.now()
    rows = tuple(
        build_pending_charge_row(charge, scope, now) for charge in charges[:MAX_PENDING_CHARGES]
    )
    return PendingCharges(rows, len(charges) > MAX_PENDING_CHARGES)


def has_newest_rows(scope: LedgerScope) -> bool:
    filters = scope.filters
    return not filters.after and not filters.oldest_first and scope.period.last >= scope.today


def can_include_charges(filters: LedgerFilters) -> bool:
    """False for a content type or a search: a charge has no content type of the service, and a
    search covers the ledger only."""
    excludes_ours = filters.direction == "in" or filters.match == "no" or filters.source == "web"
    return not (excludes_ours or filters.content_type or filters.search)


def pending_charges_query(scope: LedgerScope) -> QuerySet[Charge]:
    """Newest first, by the time of sending, or of creation if not sent."""
    charges = Charge.objects.filter(account_id__in=scope.ids)
    # Each half has its own index and few rows.
    unbooked = charges.holding().values("pk").union(charges.without_debit().values("pk"), all=True)
    start, end = scope.period.time_bounds(scope.zone)
    rows = Charge.objects.filter(pk__in=unbooked).annotate(at=Coalesce("sent_at", "created_at"))
    rows = rows.filter(charge_filters_q(scope), at__gte=start, at__lt=end).order_by("-at", "pk")
    return rows.select_related("member", "job__draft")


def charge_filters_q(scope: LedgerScope) -> Q:
    filters = scope.filters
    values = {"member": filters.member, "job": filters.job, "operation": filters.feature}
    is_included = Q(**{name: value for name, value in values.items() if value})
    if filters.video_label:
        is_included &= Q(job__in=jobs_with_label(filters.video_label))
    return is_included


def build_pending_charge_row(charge: Charge, scope: LedgerScope, now: datetime) -> dict[str, Any]:
    """One charge as a row. `state` is its data-state attribute, `note` explains `word`."""
    job, (state, word, note) = charge.job, pending_state_label(charge, scope, now)
    amount = charge_amount(charge)
    return {
        "charge": charge,
        "when": time_or_day(charge.sent_at or charge.created_at, scope),
        "what": feature_label(charge.operation),
        "kind": str(job.chosen_settings.get("type", "")) if job else "",
        "job_url": job_page_url(job),
        "state": state,
        "word": word,
        "note": note,
        "amount": CreditAmount(-amount.value, "out") if charge.is_charged else amount,
    }


def pending_state_label(charge: Charge, scope: LedgerScope, now: datetime) -> tuple[str, str, str]:
    if not charge.is_charged:
        return charge_label(charge)[:3]
    since = charge.settled_at
    if since is None or now - since <= MATCH_BOOKING_DELAY:
        return CHARGED_LABEL
    return "late", "Charged", f"not in the ledger since {time_or_day(since, scope)}"


def time_or_day(moment: datetime, scope: LedgerScope) -> str:
    """The time if the moment is today, else the day."""
    at = moment.astimezone(scope.zone)
    return f"{at:%H:%M}" if at.date() == scope.today else f"{at.day} {at:%b}"
