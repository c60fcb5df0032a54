"""The search for what gets out looks into every kind of place: a token put there is found."""

from __future__ import annotations

import base64
import html
import json
import logging
from collections.abc import Callable
from urllib.parse import quote

import pytest
import redis
from django.conf import settings
from django.core.mail import send_mail
from django.utils import timezone

from proxyapi import calls, tasks
from proxyapi.models import Account, ApiCall, CallOutcome, Job, Token
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors
from tests.factories import JobFactory, TokenFactory
from tests.leak_search import LOGS, searched_for_leaks

pytestmark = pytest.mark.django_db
Place = Callable[[Token, str], object]


def in_redis(*command: str) -> Place:
    def put(_: Token, value: str) -> None:
        with redis.Redis.from_url(settings.REDIS_URL) as store:
            store.execute_command(*(part.format(value) for part in command))

    return put


def in_a_variable(token: Token, value: str) -> None:
    """Of a frame of ours: what a call is made with."""
    with pytest.raises(errors.UnsendableRequest):
        calls.call_upstream(token, "me.get", Priority.PERSON, json={"token": value})


def in_a_log(token: Token, value: str) -> None:
    logging.getLogger("proxyapi.calls").debug("sent with %s", value, extra={"of": token.pk})


def in_the_log_of_a_process(_: Token, value: str) -> None:
    LOGS.mkdir(exist_ok=True)
    (LOGS / "a-worker").write_text(f"Task raised KeyError({value!r})\n")


def in_a_call(token: Token, value: str) -> None:
    row = ApiCall(tenant_id=token.tenant_id, token=token, operation="me.get", code=value)
    row.sent_at, row.outcome, row.milliseconds = timezone.now(), CallOutcome.REFUSED, 1
    row.save()


def in_json(token: Token, value: str) -> None:
    JobFactory(token=token, account=token.account, draft__settings={"title": html.escape(value)})


PUT: dict[str, Place] = {
    "the table proxyapi_apicall": in_a_call,
    "the table proxyapi_draft": in_json,
    "the table proxyapi_token": lambda token, value: Token.objects.update(
        ciphertext=value.encode()
    ),
    "the table proxyapi_account": lambda token, value: Account.objects.update(
        name=base64.b64encode(f"Bearer {value}".encode()).decode()
    ),
    "a key of Redis": in_redis("SET", "bucket:{}", "1"),
    "a value in Redis": in_redis("SET", "last", '{{"token": "{}"}}'),
    "a value in Redis, of a hash": in_redis("HSET", "calls", "{}", "1"),
    "a value in Redis, of a set": in_redis("ZADD", "due", "1", "{}"),
    "a value in Redis, of the queue": lambda _, value: tasks.dispatch_charge_task.delay(value),
    "the log of proxyapi": in_a_log,
    "the log of a process": in_the_log_of_a_process,
    "a mail": lambda _, value: send_mail("No", quote(value), None, ["mira@northlight.example"]),
    "an error of a call and its variables": in_a_variable,
}


@pytest.mark.parametrize("place", PUT)
def test_a_token_that_was_put_there_is_found(place: str, request: pytest.FixtureRequest) -> None:
    with searched_for_leaks(request) as canaries:
        token = TokenFactory()
        PUT[place](token, next(iter(canaries.planted)))
    where = place.partition(",")[0]
    assert any(told.startswith(f"{where}: ") for told in canaries.leaked_tokens()), (
        canaries.leaked_tokens()
    )


def test_nothing_is_found_where_tokens_only_work(request: pytest.FixtureRequest) -> None:
    with searched_for_leaks(request) as canaries:
        job = JobFactory()
        tasks.poll_job_task.delay(str(job.pk), timezone.now().isoformat())
        logging.getLogger("proxyapi").error("it broke", exc_info=errors.ResponseLost())
    assert canaries.leaked_tokens() == []
    assert {"the table proxyapi_token", "a value in Redis"} <= canaries.searched.keys()
    assert Job.objects.get().token.last_four in next(iter(canaries.planted))


def test_an_answer_that_quotes_it_is_found_if_it_is_not_struck_out(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the drill, whose service quotes tokens, can fail."""
    with searched_for_leaks(request) as canaries:
        token = TokenFactory()
        body = json.dumps({"message": next(iter(canaries.planted))}).encode()
        refused = errors.ValidationFailed(
            get_operation("me.get"), errors.ErrorDetails(message=body.decode())
        )
        monkeypatch.setattr(calls, "decrypt_for_call", lambda _: (_ for _ in ()).throw(refused))
        with pytest.raises(errors.ValidationFailed):
            calls.call_upstream(token, "me.get", Priority.PERSON)
    assert canaries.leaked_tokens()
