"""Store ideas: one row for each, whichever answer showed it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.ideas.records import IdeaRecord, parse_ideas
from proxyapi.models import Account, Charge, Idea, IdeaRefresh

READ_FIELDS = ("keyword", "network", "title", "volume")
STORED_FIELDS = (*READ_FIELDS, "rank", "charge_id")


@transaction.atomic
def store_search_result(charge: Charge) -> None:
    """Store what a search found, answered or read back, and read the list again: the answer may
    not have shown all of it."""
    store_ideas(charge.account, parse_ideas(charge.result, charge.body), charge)
    IdeaRefresh.objects.request(charge.account_id)


@transaction.atomic
def store_ideas(
    account: Account, records: Sequence[IdeaRecord], charge: Charge | None = None
) -> int:
    """Add the ideas that are new, and update what the service says of the others. Return the number
    of new ones.

    The account is locked, so that a search and a read of the list do not add the same idea twice.
    """
    Account.objects.lock_upstream_account(account.pk)
    stored = {
        idea.remote_id: idea
        for idea in account.ideas.filter(remote_id__in=[record.remote_id for record in records])
    }
    new, changed, now = [], [], timezone.now()
    sent_at = (charge.sent_at if charge else None) or now
    for record in records:
        idea = stored.get(record.remote_id) or Idea(
            account=account, remote_id=record.remote_id, found_at=record.found_at or now
        )
        before = [getattr(idea, name) for name in STORED_FIELDS]
        for name in READ_FIELDS:
            setattr(idea, name, getattr(record, name))
        idea.rank = record.rank or idea.rank
        # A read may have shown it before the answer to its search came.
        is_new = record.remote_id not in stored
        if charge and not idea.charge_id and (is_new or idea.first_seen_at >= sent_at):
            idea.charge = charge
        if is_new:
            new.append(idea)
        elif before != [getattr(idea, name) for name in STORED_FIELDS]:
            changed.append(idea)
    Idea.objects.bulk_create(new)
    Idea.objects.bulk_update(changed, [*READ_FIELDS, "rank", "charge"])
    if new or changed:
        rank_by_volume(account, [record for record in records if record.rank is None])
        publish_event(account.tenant_id, EventType.IDEA, account.pk)
    return len(new)


def rank_by_volume(account: Account, records: Sequence[IdeaRecord]) -> None:
    """Rank the ideas of these records' searches as the service's list is ordered, by falling
    volume (spec, Ideas)."""
    groups: defaultdict[tuple[str, str], list[Idea]] = defaultdict(list)
    ideas = account.ideas.filter(
        keyword__in={record.keyword for record in records},
        network__in={record.network for record in records},
    )
    for idea in ideas.order_by("found_at", "pk"):
        groups[idea.keyword, idea.network].append(idea)
    moved = []
    for group in groups.values():
        group.sort(key=lambda idea: -(idea.volume or 0))
        for rank, idea in enumerate(group, start=1):
            if idea.rank != rank:
                idea.rank = rank
                moved.append(idea)
    Idea.objects.bulk_update(moved, ["rank"])
