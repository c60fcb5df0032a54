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
from tests.proxyapi.top_up.conftest import MORE, OFF, ON, PATH, preference
from tests.proxyapi.upstream_script import ALLOWANCE, Upstream, answer, refused

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
    wanted: TopUpSetting, body: dict[str, Any], asked: Asked, account: Account, upstream: Upstream
) -> None:
    upstream.on("PUT", PATH, answer(preference(wanted)))
    change = after(asked(wanted))
    assert upstream.asked("PUT", PATH) == [body]
    assert (change.state, change.reason[:6]) == (TopUpChangeState.SAVED, "Saved.")
    row = AutoTopUp.objects.get(account=account)
    assert TopUpSetting.from_row(row) == wanted
    assert (row.left_enabled, row.is_disabled_elsewhere) == (wanted.enabled, False)


def test_pitfall_79_somebody_changed_it_meanwhile_and_nothing_is_sent(
    asked: Asked, account: Account, upstream: Upstream
) -> None:
    change = after(asked(TopUpSetting(True, "dynamic-credits", None, 5), seen=OFF))
    assert upstream.asked("PUT", PATH) == []
    assert change.state == TopUpChangeState.REFUSED
    assert "it was off when you opened the page, now it is on, 2,000 cr each time" in change.reason
    assert TopUpSetting.from_row(AutoTopUp.objects.get(account=account)) == ON


def test_what_it_would_buy_counts_as_changed_while_it_is_off(
    asked: Asked, upstream: Upstream
) -> None:
    upstream.on("GET", PATH, answer(preference(TopUpSetting(False, "dynamic-credits", None, 100))))
    change = after(asked(MORE, seen=OFF))
    assert "would buy 10,000 cr each time, before it was 2,000 cr each time" in change.reason


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (refused(422, "", "A saved payment method is required."), "no saved payment method"),
        (refused(403, "PAID-SUBSCRIPTION-REQUIRED"), "paid plans only, not on trials"),
        (refused(403, "SUBSCRIPTION-REQUIRED"), "no active plan"),
        (refused(409, ""), "e-mail address is not verified"),
        (refused(401, "GEN-UNAUTHORIZED"), "does not know this token"),
        (httpx.ConnectError, "Not saved."),
    ],
)
def test_pitfall_75_each_refusal_ends_in_its_own_sentence(
    refusal: Any, sentence: str, asked: Asked, account: Account, upstream: Upstream
) -> None:
    upstream.on("PUT", PATH, refusal)
    change = after(asked())
    assert (change.state, len(upstream.asked("PUT", PATH))) == (TopUpChangeState.REFUSED, 1)
    assert change.reason.startswith("Not saved.") and sentence in change.reason
    assert TopUpSetting.from_row(AutoTopUp.objects.get(account=account)) == ON


def test_a_pack_that_the_service_does_not_sell_is_named(asked: Asked, upstream: Upstream) -> None:
    body = {"message": "invalid", "errors": {"plan_id": ["The selected plan id is invalid."]}}
    upstream.on("PUT", PATH, httpx.Response(422, json=body, headers=ALLOWANCE))
    assert "no active credit pack with the id 301" in after(asked(PACK)).reason


def test_a_lost_answer_is_read_back_and_never_sent_again(asked: Asked, upstream: Upstream) -> None:
    upstream.on("GET", PATH, answer(preference(ON)), answer(preference(MORE)))
    upstream.on("PUT", PATH, LOST)
    change = after(asked())
    assert (change.state, len(upstream.asked("PUT", PATH))) == (TopUpChangeState.SAVED, 1)


def test_a_put_that_never_arrived_is_told_only_when_it_cannot_arrive_any_more(
    asked: Asked, upstream: Upstream
) -> None:
    upstream.on("PUT", PATH, LOST)
    change = after(asked())
    assert change.state == TopUpChangeState.UNKNOWN
    assert "It is not sent again" in change.reason
    # Its answer was waited for until now: it may have been on its way all that time.
    change = after(change, sent_at=timezone.now() - timedelta(seconds=31))
    assert change.state == TopUpChangeState.UNKNOWN
    change = after(change, sent_at=timezone.now() - MAX_PUT_ARRIVAL - timedelta(seconds=1))
    assert change.state == TopUpChangeState.REFUSED
    assert "the service shows top-up on, 2,000 cr each time" in change.reason
    assert len(upstream.asked("PUT", PATH)) == 1


def test_while_nobody_can_read_it_back_it_stays_unknown(asked: Asked, upstream: Upstream) -> None:
    upstream.on("GET", PATH, answer(preference(ON)), LOST)
    upstream.on("PUT", PATH, LOST)
    change = after(asked())
    assert change.state == TopUpChangeState.UNKNOWN
    assert after(change, sent_at=timezone.now() - timedelta(hours=9)).state == change.state
    with pytest.raises(AlreadyInProgress):
        asked()


def test_an_answer_that_shows_something_else_is_read_back(asked: Asked, upstream: Upstream) -> None:
    upstream.on("PUT", PATH, answer(preference(ON)))
    assert after(asked()).state == TopUpChangeState.UNKNOWN


def test_when_it_cannot_be_read_first_nothing_is_sent(asked: Asked, upstream: Upstream) -> None:
    upstream.on("GET", PATH, LOST)
    change = after(asked())
    assert (change.state, upstream.asked("PUT", PATH)) == (TopUpChangeState.REFUSED, [])
    assert "nothing was sent" in change.reason


def test_a_429_waits_its_turn_and_not_for_ever(asked: Asked, upstream: Upstream) -> None:
    late = httpx.Response(429, json={"message": "slow"}, headers={"Retry-After": "7"})
    upstream.on("PUT", PATH, late)
    change = after(asked())
    assert (change.state, change.sent_at) == (TopUpChangeState.ASKED, None)
    assert change.due_at > timezone.now() + timedelta(seconds=5)
    change = after(change, asked_at=timezone.now() - MAX_PERMIT_WAIT - timedelta(seconds=1))
    assert change.state == TopUpChangeState.REFUSED


def test_what_no_worker_took_up_for_long_is_not_sent(asked: Asked, upstream: Upstream) -> None:
    """Nobody wants money spent in the morning for a press of the evening before."""
    upstream.on("PUT", PATH, answer(preference(MORE)))
    change = after(asked(), asked_at=timezone.now() - timedelta(minutes=16))
    assert (change.state, upstream.asked("PUT", PATH)) == (TopUpChangeState.REFUSED, [])
    assert "Nothing was sent" in change.reason


def test_pitfall_26_a_429_that_is_over_at_once_costs_no_minute(
    asked: Asked, upstream: Upstream
) -> None:
    upstream.on("PUT", PATH, httpx.Response(429, headers={"Retry-After": "0"}))
    change = after(asked())
    assert change.state == TopUpChangeState.ASKED
    assert change.due_at < timezone.now() + timedelta(seconds=2)


@pytest.mark.parametrize(
    ("sent", "puts"), [(False, 1), (True, 0)], ids=["before the PUT", "perhaps after it"]
)
def test_what_a_dead_worker_left_goes_on_without_a_second_put(
    sent: bool, puts: int, asked: Asked, upstream: Upstream
) -> None:
    upstream.on("PUT", PATH, answer(preference(MORE)))
    long_ago = timezone.now() - CHANGE_ABANDONED_AFTER
    change = after(
        asked(),
        state=TopUpChangeState.SENDING,
        due_at=long_ago,
        sent_at=long_ago if sent else None,
    )
    assert len(upstream.asked("PUT", PATH)) == puts
    assert change.state == (TopUpChangeState.REFUSED if sent else TopUpChangeState.SAVED)


def test_a_task_that_runs_twice_sends_once(asked: Asked, upstream: Upstream) -> None:
    upstream.on("PUT", PATH, answer(preference(MORE)))
    change = after(after(asked()))
    assert (change.state, len(upstream.asked("PUT", PATH))) == (TopUpChangeState.SAVED, 1)


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
