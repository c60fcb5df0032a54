"""Changing the preference: read again before, sent once, read back when the answer got lost."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from proxyapi import top_up
from proxyapi.models import Account, AccountPlan, AutoTopUp, Token, TopUpChange, TopUpChangeState
from proxyapi.refusals import AlreadyInProgress, NotReady
from proxyapi.top_up import TopUpSetting
from proxyapi.top_up.change_dispatch import CHANGE_ABANDONED_AFTER, MAX_PERMIT_WAIT, MAX_PUT_ARRIVAL
from tests.proxyapi.scripted_upstream import (
    RATE_LIMIT_HEADERS,
    ScriptedUpstream,
    error_response,
    make_response,
)
from tests.proxyapi.top_up.conftest import MORE, OFF, ON, PATH, preference

pytestmark = pytest.mark.postgresql

Asked = Callable[..., TopUpChange]
PACK = TopUpSetting(True, "extra-credits", 301, 20)
LOST = httpx.ReadTimeout


def after(change: TopUpChange, **fields: object) -> TopUpChange:
    """The change once a worker has had it."""
    TopUpChange.objects.filter(pk=change.pk).update(**fields)
    top_up.process_change(change.pk)
    change.refresh_from_db()
    return change


@pytest.mark.parametrize(
    ("wanted", "body"),
    [
        (MORE, {"enabled": True, "type": "dynamic-credits", "units": 50}),
        (PACK, {"enabled": True, "type": "extra-credits", "plan_id": 301}),
        (OFF, {"enabled": False}),
    ],
)
def test_pitfalls_69_to_71_only_what_decides_is_sent(
    wanted: TopUpSetting,
    body: dict[str, Any],
    requested_change: Asked,
    account: Account,
    upstream: ScriptedUpstream,
) -> None:
    upstream.respond("PUT", PATH, make_response(preference(wanted)))
    change = after(requested_change(wanted))
    assert upstream.request_bodies("PUT", PATH) == [body]
    assert (change.state, change.reason[:6]) == (TopUpChangeState.SAVED, "Saved.")
    row = AutoTopUp.objects.get(account=account)
    assert TopUpSetting.from_row(row) == wanted
    assert (row.left_enabled, row.is_disabled_elsewhere) == (wanted.enabled, False)


def test_pitfall_79_somebody_changed_it_meanwhile_and_nothing_is_sent(
    requested_change: Asked, account: Account, upstream: ScriptedUpstream
) -> None:
    change = after(requested_change(TopUpSetting(True, "dynamic-credits", None, 5), seen=OFF))
    assert upstream.request_bodies("PUT", PATH) == []
    assert change.state == TopUpChangeState.REFUSED
    said = (
        "The setting was changed in another window or by somebody else: it was off when you opened"
    )
    assert f"{said} the page, now it is on, 2,000 cr per top-up" in change.reason
    assert TopUpSetting.from_row(AutoTopUp.objects.get(account=account)) == ON


def test_what_it_would_buy_counts_as_changed_while_it_is_off(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond(
        "GET", PATH, make_response(preference(TopUpSetting(False, "dynamic-credits", None, 100)))
    )
    change = after(requested_change(MORE, seen=OFF))
    assert "would buy 10,000 cr per top-up, before it was 2,000 cr per top-up" in change.reason


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (error_response(422, "", "A saved payment method is required."), "no saved payment method"),
        (error_response(403, "PAID-SUBSCRIPTION-REQUIRED"), "paid plans only, not on trials"),
        (error_response(403, "SUBSCRIPTION-REQUIRED"), "no active plan"),
        (error_response(409, ""), "e-mail address is verified"),
        (error_response(401, "GEN-UNAUTHORIZED"), "does not recognize this token"),
        (httpx.ConnectError, "Not saved."),
    ],
)
def test_pitfall_75_each_refusal_ends_in_its_own_sentence(
    refusal: Any,
    sentence: str,
    requested_change: Asked,
    account: Account,
    upstream: ScriptedUpstream,
) -> None:
    upstream.respond("PUT", PATH, refusal)
    change = after(requested_change())
    assert (change.state, len(upstream.request_bodies("PUT", PATH))) == (
        TopUpChangeState.REFUSED,
        1,
    )
    assert change.reason.startswith("Not saved.") and sentence in change.reason
    assert TopUpSetting.from_row(AutoTopUp.objects.get(account=account)) == ON


def test_a_pack_that_the_service_does_not_sell_is_named(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    body = {"message": "invalid", "errors": {"plan_id": ["The selected plan id is invalid."]}}
    upstream.respond("PUT", PATH, httpx.Response(422, json=body, headers=RATE_LIMIT_HEADERS))
    assert "no active credit pack with the plan ID 301" in after(requested_change(PACK)).reason


def test_a_lost_answer_is_read_back_and_never_sent_again(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", PATH, make_response(preference(ON)), make_response(preference(MORE)))
    upstream.respond("PUT", PATH, LOST)
    change = after(requested_change())
    assert (change.state, len(upstream.request_bodies("PUT", PATH))) == (TopUpChangeState.SAVED, 1)


def test_a_put_that_never_arrived_is_reported_only_when_it_cannot_arrive_any_more(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PUT", PATH, LOST)
    change = after(requested_change())
    assert change.state == TopUpChangeState.UNKNOWN
    assert "It is not sent again" in change.reason
    # Its answer was waited for until now: it may have been on its way all that time.
    change = after(change, sent_at=timezone.now() - timedelta(seconds=31))
    assert change.state == TopUpChangeState.UNKNOWN
    change = after(change, sent_at=timezone.now() - MAX_PUT_ARRIVAL - timedelta(seconds=1))
    assert change.state == TopUpChangeState.REFUSED
    assert "the service shows top-up on, 2,000 cr per top-up" in change.reason
    assert len(upstream.request_bodies("PUT", PATH)) == 1


def test_while_nobody_can_read_it_back_it_stays_unknown(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", PATH, make_response(preference(ON)), LOST)
    upstream.respond("PUT", PATH, LOST)
    change = after(requested_change())
    assert change.state == TopUpChangeState.UNKNOWN
    assert after(change, sent_at=timezone.now() - timedelta(hours=9)).state == change.state
    with pytest.raises(AlreadyInProgress):
        requested_change()


def test_an_answer_that_shows_something_else_is_read_back(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PUT", PATH, make_response(preference(ON)))
    assert after(requested_change()).state == TopUpChangeState.UNKNOWN


def test_when_it_cannot_be_read_first_nothing_is_sent(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", PATH, LOST)
    change = after(requested_change())
    assert (change.state, upstream.request_bodies("PUT", PATH)) == (TopUpChangeState.REFUSED, [])
    assert "nothing was sent" in change.reason


def test_a_429_is_retried_later_and_not_for_ever(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    late = httpx.Response(429, json={"message": "slow"}, headers={"Retry-After": "7"})
    upstream.respond("PUT", PATH, late)
    change = after(requested_change())
    assert (change.state, change.sent_at) == (TopUpChangeState.ASKED, None)
    assert change.due_at > timezone.now() + timedelta(seconds=5)
    change = after(change, requested_at=timezone.now() - MAX_PERMIT_WAIT - timedelta(seconds=1))
    assert change.state == TopUpChangeState.REFUSED


def test_what_no_worker_took_up_for_long_is_not_sent(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    """Nobody wants money spent in the morning for a press of the evening before."""
    upstream.respond("PUT", PATH, make_response(preference(MORE)))
    change = after(requested_change(), requested_at=timezone.now() - timedelta(minutes=16))
    assert (change.state, upstream.request_bodies("PUT", PATH)) == (TopUpChangeState.REFUSED, [])
    assert "Nothing was sent" in change.reason


def test_pitfall_26_a_429_that_is_over_at_once_costs_no_minute(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PUT", PATH, httpx.Response(429, headers={"Retry-After": "0"}))
    change = after(requested_change())
    assert change.state == TopUpChangeState.ASKED
    assert change.due_at < timezone.now() + timedelta(seconds=2)


@pytest.mark.parametrize(
    ("sent", "puts"), [(False, 1), (True, 0)], ids=["before the PUT", "perhaps after it"]
)
def test_what_a_dead_worker_left_goes_on_without_a_second_put(
    sent: bool, puts: int, requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PUT", PATH, make_response(preference(MORE)))
    long_ago = timezone.now() - CHANGE_ABANDONED_AFTER
    change = after(
        requested_change(),
        state=TopUpChangeState.SENDING,
        due_at=long_ago,
        sent_at=long_ago if sent else None,
    )
    assert len(upstream.request_bodies("PUT", PATH)) == puts
    assert change.state == (TopUpChangeState.REFUSED if sent else TopUpChangeState.SAVED)


def test_a_task_that_runs_twice_sends_once(
    requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PUT", PATH, make_response(preference(MORE)))
    change = after(after(requested_change()))
    assert (change.state, len(upstream.request_bodies("PUT", PATH))) == (TopUpChangeState.SAVED, 1)


def test_one_nonce_is_one_change_and_one_account_has_one_on_its_way(token: Token) -> None:
    nonce = uuid.uuid4()
    first, new = top_up.request_change(token, token.owner_id, nonce, MORE, ON)
    again, newer = top_up.request_change(token, token.owner_id, nonce, MORE, ON)
    assert (first, new, newer) == (again, True, False)
    with pytest.raises(AlreadyInProgress):
        top_up.request_change(token, token.owner_id, uuid.uuid4(), OFF, ON)
    with pytest.raises(IntegrityError), transaction.atomic():
        TopUpChange.objects.create(
            account=token.account, token=token, member=token.owner, nonce=uuid.uuid4(), **SHAPES
        )


SHAPES: dict[str, Any] = {"wanted": MORE.to_dict(), "seen": ON.to_dict()}


@pytest.mark.parametrize("plan", [AccountPlan.TRIAL, AccountPlan.NONE])
def test_without_a_paid_plan_nothing_is_even_asked_for(plan: AccountPlan, token: Token) -> None:
    Account.objects.filter(pk=token.account_id).update(plan=plan)
    with pytest.raises(NotReady, match="Not saved"):
        top_up.request_change(token, token.owner_id, uuid.uuid4(), MORE, ON)
    assert not TopUpChange.objects.exists()
