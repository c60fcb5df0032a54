"""Actions on ideas: search for new ones, read the list again, mark them as seen."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.access import check_permission
from dashboard.shared.charging import CONFIRMED, ConfirmAnswer, require_shown_price, submit_charge
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from proxyapi import pricing
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, Charge, IdeaRefresh
from proxyapi.operations import IDEA_SEARCH_OPERATION
from proxyapi.refusals import AlreadyInProgress, NotReady

PRICE_UNKNOWN = "The service’s price list has no price for a search. Nothing was sent."
SEARCH_IN_PROGRESS = "The same search is already in progress. Nothing was sent twice."
NO_ACCOUNT = "The team has no account yet, so there is no list to read."


def search_ideas(
    *,
    by: Membership,
    keyword: str,
    network: str,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Have the service search, in the background and on the member's own token. It charges each
    time it finds anything (spec, Ideas).

    `seen` is the price that was shown, in credits. With a note in the answer an approval is
    requested instead. Raises `Refusal`, also while the same search is in progress.
    """
    check_permission(by, Permission.RENDER)
    token = require_member_token(by)
    body: dict[str, object] = {"keyword": keyword, "network": network}

    def quote() -> Decimal:
        running = Charge.objects.open().filter(account=token.account_id, job=None)
        for search in running.filter(operation=IDEA_SEARCH_OPERATION):
            if is_same_search(search.body, body):
                raise AlreadyInProgress(SEARCH_IN_PROGRESS)
        price = pricing.fixed_price(token.account, IDEA_SEARCH_OPERATION)
        if price is None:
            raise NotReady(PRICE_UNKNOWN)
        require_shown_price(seen, price)
        return price

    return submit_charge(by, token, IDEA_SEARCH_OPERATION, nonce, quote, body=body, answer=answer)


def is_same_search(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether the service would search the same twice: capitals make no other search."""
    names = ("keyword", "network")
    return all(str(one.get(name)).casefold() == str(other.get(name)).casefold() for name in names)


@transaction.atomic
def request_list(*, by: Membership) -> None:
    """Have the free lists of the team's accounts read again. Raises `NotReady` without one."""
    check_permission(by, Permission.RECHECK)
    accounts = Account.objects.of_current_upstream().not_archived()
    accounts = accounts.filter(tenant=by.team.tenant_id)
    ids = list(accounts.values_list("pk", flat=True))
    if not ids:
        raise NotReady(NO_ACCOUNT)
    for account_id in ids:
        IdeaRefresh.objects.request(account_id)
        publish_event(by.team.tenant_id, EventType.IDEA, account_id)


def mark_ideas_seen(*, by: Membership) -> None:
    Membership.objects.filter(pk=by.pk).update(ideas_seen_at=timezone.now())
