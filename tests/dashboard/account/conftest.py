"""Mira with a password, clients at addresses of their own, and the queue of mails."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.urls import reverse

from dashboard import tasks
from dashboard.models import Membership
from proxyapi.redis_client import connect_redis

PASSWORD = "a lantern over the ice"
MIRA = "mira@northlight.example"


@pytest.fixture
def mira_signs_in(mira: Membership) -> Membership:
    """Mira, with PASSWORD."""
    mira.user.password = make_password(PASSWORD)
    mira.user.save()
    return mira


@pytest.fixture
def browser_at() -> Callable[[str], Client]:
    """A new browser at an IP address."""
    return lambda ip: Client(REMOTE_ADDR=ip)


def sign_in(browser: Client, password: str = PASSWORD, address: str = MIRA) -> Any:
    form = {"login": address, "password": password}
    return browser.post(reverse("account_login"), form)


def is_signed_in(browser: Client) -> bool:
    return browser.get(reverse("members")).status_code == 200


def pop_queued_tasks() -> list[tuple[str, list[Any]]]:
    """The tasks that wait for the slow worker, with their arguments, the oldest first; they are
    taken out of the queue."""
    found = []
    while message := connect_redis().rpop("reelroom:post"):
        assert isinstance(message, bytes)
        sent = json.loads(message)
        (args, *_) = json.loads(base64.b64decode(sent["body"]))
        found.append((sent["headers"]["task"], args))
    return found


def run_queued_tasks() -> None:
    for name, args in pop_queued_tasks():
        getattr(tasks, name.rpartition(".")[2])(*args)
