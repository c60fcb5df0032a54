"""Redis takes connections and never answers: pages come within a second, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.conf import settings
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership
from dashboard.up.install import ROOT
from proxyapi import rate_limiter, redis_client
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType, publish_event
from proxyapi.models import Charge, ChargeState, Job
from tests.dashboard.studio.conftest import OPTIONS, WANTED
from tests.factories import AccountFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Client]
LONGEST_S = 1.0
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


def seconds(ask: Callable[[], Any], *statuses: int) -> float:
    begun = time.monotonic()
    assert ask().status_code in statuses
    return time.monotonic() - begun


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
    priya: Membership, draft: Job, client_of: Browser, stopped_valkey: Any, pages_process: None
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
    took = {}
    for name, ask in asks.items():
        redis_client.reset_timeout_backoff()  # each as if it were the first one
        took[name] = seconds(ask, 200, 302, 503)
    print({name: f"{one:.2f} s" for name, one in took.items()})
    assert max(took.values()) <= LONGEST_S


def test_news_of_a_short_silence_is_announced_once_it_is_over(
    draft: Job, stopped_valkey: Any, pages_process: None
) -> None:
    """Streams that did not notice it would else show an old page for good."""
    with redis.Redis.from_url(settings.REDIS_URL) as client, client.pubsub() as heard:
        heard.subscribe(EVENTS_CHANNEL)
        heard.get_message(timeout=1)
        pid = stopped_valkey()
        for event in (
            EventType.JOB,
            EventType.CHARGE,
        ):  # the second is not even tried before it is over
            publish_event(draft.tenant_id, event, draft.pk)
        os.kill(pid, signal.SIGCONT)
        told = {
            ChangeEvent.from_json(heard.get_message(timeout=5)["data"]).event_type for _ in range(2)
        }
    assert told == {EventType.JOB, EventType.CHARGE}


def test_after_a_time_out_redis_is_not_asked_for_two_seconds(
    stopped_valkey: Any, pages_process: None
) -> None:
    stopped_valkey()
    begun = time.monotonic()
    for _ in range(20):
        with pytest.raises(rate_limiter.RateLimiterUnavailable):
            rate_limiter.try_acquire(
                redis_client.connect_redis(), "t", rate_limiter.Priority.PERSON
            )
    assert time.monotonic() - begun < 2 * redis_client.PAGE_TIMEOUT_S


def test_a_process_that_answers_pages_gives_up_soon_and_a_worker_waits() -> None:
    said = "from proxyapi import redis_client; print(redis_client.uses_page_timeout())"
    for begun, is_hasty in (("dashboard.asgi", b"True"), ("dashboard.celery", b"False")):
        command = [sys.executable, "-c", f"import django; django.setup(); import {begun}; {said}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        assert done.stdout.split()[-1] == is_hasty
