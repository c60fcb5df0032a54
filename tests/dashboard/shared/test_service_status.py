"""The line about the service: pushed to all, counted on in the page, believed for five minutes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone
from time_machine import TimeMachineFixture

from dashboard.models import Membership
from dashboard.shared.live.change_rendering import render_tenant_changes
from dashboard.shared.service_status import load_service_availability
from dashboard.shared.shell import build_app_shell, load_own_rate_limit
from proxyapi.events import ChangeEvent, EventType
from proxyapi.models import ApiCall, Token
from tests.factories import AccountFactory, JobFactory, TokenFactory

ClientOf = Callable[[Membership], Client]


@pytest.fixture
def token(priya: Membership) -> Token:
    account = AccountFactory.create(tenant=priya.team.tenant)
    return TokenFactory.create(account=account, owner=priya.user)


def heard(token: Token, status: int | None, minutes_ago: float) -> ApiCall:
    return ApiCall.objects.create(
        tenant=token.tenant,
        token=token,
        operation="me.get",
        outcome="answered" if status else "unknown",
        status=status,
        milliseconds=80,
        sent_at=timezone.now() - timedelta(minutes=minutes_ago),
    )


def line(token: Token) -> str:
    return render_to_string(
        "components/service_status.html", {"service": load_service_availability(token.tenant)}
    )


def test_a_refusal_is_an_answer_of_the_service(token: Token) -> None:
    heard(token, None, 5)
    heard(token, 422, 1)
    assert load_service_availability(token.tenant).state == "answers"
    assert "1 min</span> ago" in line(token)


@pytest.mark.parametrize("status", [None, 502])
@pytest.mark.parametrize(("hour", "since"), [(12, "11:50"), (0, "31 Dec 2026 23:50")])
def test_silence_counts_from_the_first_call_that_got_no_answer(
    hour: int, since: str, status: int | None, token: Token, time_machine: TimeMachineFixture
) -> None:
    here = timezone.get_current_timezone()
    time_machine.move_to(datetime(2027, 1, 1, hour, 10, tzinfo=here), tick=False)
    heard(token, 200, 30)
    heard(token, status, 20)
    heard(token, status, 10)
    assert load_service_availability(token.tenant).state == "silent"
    assert f"has not responded since {since}" in line(token)


def test_one_failed_call_among_answers_is_chance_and_two_are_silence(token: Token) -> None:
    """So a fault on one of several accounts does not make the line flicker."""
    heard(token, 200, 4)
    heard(token, 502, 3)
    assert load_service_availability(token.tenant).state == "answers"
    assert "4 min</span> ago" in line(token)
    heard(token, None, 2)
    assert load_service_availability(token.tenant).state == "silent"


@pytest.mark.parametrize(
    ("minutes_ahead", "state"), [(60, "silent"), (0.5, "answers")], ids=["put back", "another's"]
)
def test_a_call_that_a_clock_sent_an_hour_ahead_of_now_does_not_decide(
    minutes_ahead: float, state: str, token: Token
) -> None:
    """What another machine sent does, whose clock is some seconds ahead."""
    heard(token, 200, -minutes_ahead)
    heard(token, 502, 2)
    heard(token, 502, 1)
    assert load_service_availability(token.tenant).state == state


def test_an_answer_that_grows_old_in_the_page_is_no_longer_shown_as_fine(token: Token) -> None:
    """Nobody pushes when the worker is dead: what the page shows then is already in it."""
    heard(token, 200, 4)
    found = load_service_availability(token.tenant)
    assert timedelta(seconds=50) < found.valid_for <= timedelta(minutes=1)
    assert 'data-from="' in line(token)
    heard_long_ago = 'class="dot dot--live" data-until="0" hidden'
    assert heard_long_ago not in line(token)
    ApiCall.objects.update(sent_at=timezone.now() - timedelta(hours=2))
    assert heard_long_ago in line(token)


def test_nothing_asked_is_not_an_answer(token: Token) -> None:
    assert "Not checked yet" in line(token)
    assert "dot--live" not in line(token)


def test_an_event_renders_the_line_again(token: Token) -> None:
    heard(token, 502, 1)
    html = render_tenant_changes(
        token.tenant_id, {ChangeEvent(token.tenant_id, EventType.SERVICE, token.pk)}
    )
    assert 'id="service" data-state="silent" data-said="The service has not responded' in html


def test_only_ones_own_requests_are_counted(
    token: Token, priya: Membership, luca: Membership, client_of: ClientOf
) -> None:
    assert build_app_shell(priya).rate_limit == load_own_rate_limit(priya) is not None
    assert build_app_shell(luca).rate_limit is None
    assert "requests left, this minute" in client_of(priya).get("/service/").content.decode()
    assert client_of(luca).get("/service/").content == b""


def test_without_redis_the_shell_only_keeps_the_count_to_itself(
    token: Token, priya: Membership, settings: Any
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    assert build_app_shell(priya).rate_limit is None


def test_a_page_without_its_stream_fetches_the_line(
    token: Token, luca: Membership, client_of: ClientOf
) -> None:
    heard(token, 502, 1)
    asked = {"HX-Request": "true", "HX-Target": "service"}
    assert 'data-state="silent"' in client_of(luca).get("/service/", headers=asked).content.decode()


@pytest.mark.parametrize("part", ["/library/", "/videos/{}/?part=news"])
def test_what_fetches_itself_brings_the_line_too(
    part: str, token: Token, priya: Membership, client_of: ClientOf
) -> None:
    heard(token, 200, 1)
    job = JobFactory.create(account=token.account, token=token)
    asked = {"HX-Request": "true"}
    html = client_of(priya).get(part.format(job.pk), headers=asked).content.decode()
    assert "<html" not in html
    assert 'id="service" data-state="answers"' in html
