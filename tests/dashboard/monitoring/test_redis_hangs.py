"""Redis takes connections and never answers: pages come within a second, and nothing is lost.

A page is not measured, for on a busy machine it takes longer; the timeouts are that it waits for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from threading import current_thread, main_thread
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.conf import settings
from django.test import Client
from django.urls import reverse
from redis.connection import AbstractConnection

from dashboard.models import Membership
from dashboard.up.install import ROOT
from proxyapi import rate_limiter, redis_client
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType, publish_event
from proxyapi.models import Charge, ChargeState, Job
from tests.dashboard.studio.conftest import OPTIONS, WANTED
from tests.factories import AccountFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Client]
LONGEST_S = 1.0  # of a page, and of all timeouts that it waits for
PAGES = ("overview", "library", "ledger", "studio", "tokens")

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def draft(priya: Membership) -> Job:
    account = AccountFactory.create(
        tenant=priya.team.tenant,
        options=OPTIONS,
        costs={"CONTENT_PROMPT_REQUESTED": {"credits": 4}},
    )
    token = TokenFactory.create(account=account, owner=priya.user)
    return JobFactory.create(account=account, token=token, draft__settings=WANTED)


@pytest.fixture
def pages_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process answers pages, as one that `dashboard.asgi` began."""
    monkeypatch.setattr(redis_client, "_timeout_s", redis_client.PAGE_TIMEOUT_S)
    yield
    redis_client.reset_timeout_backoff()


@pytest.fixture
def timeouts(monkeypatch: pytest.MonkeyPatch, pages_process: None) -> list[float]:
    """The timeouts that were waited for, in seconds; after the first one Redis is not asked."""
    waited: list[Any] = []
    read_response = AbstractConnection.read_response

    def read_or_note(connection: AbstractConnection, *args: Any, **named: Any) -> Any:
        try:
            return read_response(connection, *args, **named)
        except redis.TimeoutError:
            if current_thread() is main_thread():  # beside it, an event may wait for Redis
                waited.append(connection.socket_timeout)
            raise

    monkeypatch.setattr(AbstractConnection, "read_response", read_or_note)
    monkeypatch.setattr(redis_client, "TIMEOUT_BACKOFF_S", 3600.0)
    return waited


@pytest.fixture
def stopped_valkey() -> Iterator[Callable[[], int]]:
    """Stop the tests' own Valkey by SIGSTOP, and answer its process; it goes on at the end."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        pid = int(client.info("server")["process_id"])

    def stop() -> int:
        os.kill(pid, signal.SIGSTOP)
        return pid

    try:
        yield stop
    finally:
        os.kill(pid, signal.SIGCONT)


def post_draft(browser: Client) -> Any:
    form = {"start": "While Redis hangs"}
    return browser.post(reverse("drafts"), form)


def post_script(browser: Client, draft: Job) -> Any:
    """A charging request: its row is written, and no worker is woken yet."""
    Charge.objects.all().delete()
    form = {"nonce": uuid4(), "price": "4", "topic": "Ice", "duration": "60"}
    answer = browser.post(reverse("studio-scripts", args=[draft.pk]), form)
    assert Charge.objects.get().state == ChargeState.HELD
    return answer


def post_sign_in(member: Membership) -> Any:
    """Without the count of attempts nobody is let in."""
    browser = Client(raise_request_exception=False)
    form = {"login": member.user.email, "password": "wrong-horse-battery"}
    return browser.post(reverse("account_login"), form)


def test_pages_and_presses_take_a_second_at_most(
    priya: Membership,
    draft: Job,
    client_of: Browser,
    stopped_valkey: Any,
    timeouts: list[float],
) -> None:
    browser, step = client_of(priya), reverse("studio-step", args=[draft.pk, "voice"])
    asks: dict[str, Callable[[], Any]] = {}
    asks |= {name: partial(browser.get, reverse(name)) for name in PAGES}
    asks["studio-step"] = lambda: browser.get(step)
    asks["a draft"] = lambda: post_draft(browser)
    voices = cycle(["7", "11"])
    asks["a step"] = lambda: browser.post(step, {"voice_id": next(voices)})
    asks["a script"] = lambda: post_script(browser, draft)
    asks["sign-in"] = lambda: post_sign_in(priya)
    for ask in asks.values():
        ask()
    stopped_valkey()
    waited = {}
    for name, ask in asks.items():
        redis_client.reset_timeout_backoff()  # each as if it were the first one
        timeouts.clear()
        assert ask().status_code in (200, 302, 503)
        waited[name] = sum(timeouts)
    assert 0 < max(waited.values()) <= LONGEST_S, waited


def test_news_of_a_short_silence_is_announced_once_it_is_over(
    draft: Job, stopped_valkey: Any, pages_process: None
) -> None:
    """Streams that did not notice it would else show an old page for good."""
    with redis.Redis.from_url(settings.REDIS_URL) as client, client.pubsub() as heard:
        heard.subscribe(EVENTS_CHANNEL)
        heard.get_message(timeout=None)
        pid = stopped_valkey()
        for event in (
            EventType.JOB,
            EventType.CHARGE,
        ):  # the second is not even tried before it is over
            publish_event(draft.tenant_id, event, draft.pk)
        os.kill(pid, signal.SIGCONT)
        told = {
            ChangeEvent.from_json(heard.get_message(timeout=None)["data"]).event_type
            for _ in range(2)
        }
    assert told == {EventType.JOB, EventType.CHARGE}


def test_after_a_time_out_redis_is_not_asked_for_a_while(
    stopped_valkey: Any, timeouts: list[float]
) -> None:
    stopped_valkey()
    for _ in range(20):
        with pytest.raises(rate_limiter.RateLimiterUnavailable):
            rate_limiter.try_acquire(
                redis_client.connect_redis(), "t", rate_limiter.Priority.PERSON
            )
    assert timeouts == [redis_client.PAGE_TIMEOUT_S]


def test_a_process_that_answers_pages_gives_up_soon_and_a_worker_waits() -> None:
    report = "print(redis_client.uses_page_timeout())"
    program = f"""import django; django.setup()
from proxyapi import redis_client
import dashboard.celery; {report}
import dashboard.asgi; {report}
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stdout.split()[-2:] == [b"False", b"True"]
