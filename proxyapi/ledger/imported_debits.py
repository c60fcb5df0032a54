"""Which debits without a charge are those of an imported job?

An entry has no id of what it paid (pitfall 67), but its label may be the title of a video, whole or
shortened. Such debits are explained by the imported job of that title if no other job can be meant:
no other one of the upstream account has the title, and all debits with the label are of one day.
Whatever is less clear stays outside the portal. A charge that is matched to the entry later
replaces the job.

Called with the account locked.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Max, Min, Q, QuerySet
from django.utils import timezone

from proxyapi.models import Account, Job, JobOrigin, LedgerEntry, LedgerMirror, MatchConfidence

SEARCH_PERIOD = timedelta(days=7)  # after an import, in which older pages may still be mirrored
MAX_IMPORTED_JOBS = 50  # of the newest, whose titles are searched for
# A script that makes a video of the same title every night leaves equal labels.
MAX_DEBIT_SPAN = timedelta(days=1)
MIN_SHORTENED_CHARS = 20
ELLIPSES = ("...", "\N{HORIZONTAL ELLIPSIS}")
LABEL_IS_TITLE = "Its label is the title of this imported video; the ledger shows no more."


def link_imported_debits(ledger: LedgerMirror) -> list[datetime]:
    """Store which debits imported jobs explain; return the times of those entries. The caller
    records the change of the day's sums."""
    imported = Job.objects.filter(account=ledger.pk, origin=JobOrigin.IMPORT)
    recent = imported.filter(created_at__gte=timezone.now() - SEARCH_PERIOD)
    jobs = list(recent.order_by("-created_at")[:MAX_IMPORTED_JOBS])
    jobs_by_label = {label: job for job in jobs for label in possible_labels(job.title)}
    if not jobs_by_label:
        return []
    found = unexplained_debits(ledger).filter(label__in=jobs_by_label)
    linked: list[datetime] = []
    for label in found.order_by("label").values_list("label", flat=True).distinct():
        job = jobs_by_label[label]
        if is_only_meaning(label, job):
            rows = list(unexplained_debits(ledger).filter(label=label))
            explain_debits(rows, job)
            linked += [entry.happened_at for entry in rows]
    return linked


def possible_labels(title: str) -> Iterable[str]:
    """The title, and how it may be shortened."""
    yield title
    for length in range(MIN_SHORTENED_CHARS, len(title)):
        yield from (title[:length] + ellipsis for ellipsis in ELLIPSES)


def unexplained_debits(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    rows = LedgerEntry.objects.without_charge().filter(account=ledger.pk, job__isnull=True)
    return rows.filter(amount__lt=0, trouble="")


def is_only_meaning(label: str, job: Job) -> bool:
    """Whether only this job can be meant by the label."""
    start = next((label.removesuffix(end) for end in ELLIPSES if label.endswith(end)), label)
    same_title = Q(title=label) if start == job.title else Q(title__startswith=start)
    accounts = Account.objects.same_upstream_account(job.account_id)
    others = Job.objects.filter(same_title, account__in=accounts).exclude(pk=job.pk)
    rows = LedgerEntry.objects.filter(account=job.account_id, label=label)
    of_others = rows.filter(job__isnull=False).exclude(job=job)
    if others.exists() or of_others.exists():
        return False
    times = rows.filter(amount__lt=0).aggregate(first=Min("happened_at"), last=Max("happened_at"))
    is_of_one_day: bool = times["last"] - times["first"] <= MAX_DEBIT_SPAN
    return is_of_one_day


def explain_debits(rows: Iterable[LedgerEntry], job: Job) -> None:
    LedgerEntry.objects.filter(pk__in=[entry.pk for entry in rows]).update(
        job=job,
        member=job.member_id,
        confidence=MatchConfidence.LIKELY,
        reason=LABEL_IS_TITLE,
    )
