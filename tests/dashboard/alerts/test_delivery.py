"""An alert reaches each address once, tries again with growing pauses, and is parked in the end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import smtplib
import socket
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from dashboard import tasks
from dashboard.alerts.delivery import queue, webhook
from dashboard.alerts.delivery.errors import DeliveryFailed, Undeliverable
from dashboard.alerts.delivery.queue import RETRY_DELAYS, attempt_delivery
from dashboard.models import AlertKind, Delivery
from dashboard.shared import outgoing_requests
from dashboard.shared.notices import schedule_deliveries
from proxyapi import tasks as proxy_tasks
from tests.dashboard.alerts.conftest import NOON
from tests.factories import ChargeFactory, JobFactory

pytestmark = pytest.mark.postgresql


@pytest.fixture
def webhook_delivery(event, team_webhook):
    """A delivery to the webhook."""
    fields = {"channel": "webhook", "address": team_webhook.host, "webhook": team_webhook}
    return Delivery.objects.create(event=event(), **fields)


@contextmanager
def dripping():
    """A host that answers a byte now and then; its port."""

    def drip() -> None:
        line, _ = door.accept()
        with line, suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\n" + b"x" * 100:
                line.send(bytes([byte]))
                if ended.wait(0.1):
                    return

    ended = Event()
    with socket.create_server(("127.0.0.1", 0)) as door:
        host = Thread(target=drip)
        host.start()
        yield door.getsockname()[1]
        ended.set()
        host.join()


def again(delivery):
    delivery.refresh_from_db()
    return delivery


def test_an_alert_goes_to_those_who_decide_and_to_the_webhook(
    event, mira, thea, priya, team_webhook
):
    schedule_deliveries(event())
    assert set(Delivery.objects.values_list("channel", "address")) == {
        ("email", "mira@northlight.example"),
        ("email", "thea@northlight.example"),
        ("webhook", "127.0.0.1"),
    }


def test_an_alert_for_one_member_goes_to_no_one_else(event, mira, priya, team_webhook):
    schedule_deliveries(event(member=priya.user))
    assert list(Delivery.objects.values_list("address")) == [("priya@northlight.example",)]


def test_a_rule_names_its_ways(event, rule, mira, team_webhook):
    assert (
        schedule_deliveries(
            event(rule=rule(AlertKind.RECONCILIATION, by_email=False, by_webhook=False))
        )
        == []
    )


def test_who_was_switched_off_gets_nothing(event, mira, thea):
    thea.user.is_active = False
    thea.user.save()
    schedule_deliveries(event())
    assert list(Delivery.objects.values_list("address")) == [("mira@northlight.example",)]


def test_the_email_is_plain_and_says_where_to_look(event, thea, settings):
    settings.PORTAL_URL = "https://reelroom.example"
    (row,) = schedule_deliveries(event(text="Priya’s & Luca’s <b>."))
    attempt_delivery(row.pk)
    (sent,) = mail.outbox
    assert sent.subject == "Northlight: 900 cr are free, less than 1,000"
    assert sent.to == ["thea@northlight.example"]
    assert "Priya’s & Luca’s <b>." in sent.body
    assert "View: https://reelroom.example/budgets/" in sent.body
    assert again(row).state == "delivered"
    attempt_delivery(row.pk)
    assert len(mail.outbox) == 1


def test_the_email_says_when_in_the_teams_zone(event, northlight, thea):
    northlight.tenant.time_zone = "Pacific/Auckland"  # 13 h before UTC in November
    northlight.tenant.save()
    (row,) = schedule_deliveries(event())
    attempt_delivery(row.pk)
    assert "21 Nov 2026 01:01 NZDT, sent once per period." in mail.outbox[0].body


def test_the_webhook_is_signed_so_that_the_receiver_can_verify_it(
    webhook_delivery, webhook_posts, secret, event
):
    attempt_delivery(webhook_delivery.pk)
    ((headers, body),) = webhook_posts
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"
    assert headers["webhook-id"] == str(webhook_delivery.event_id)
    assert headers["webhook-timestamp"] == str(int(NOON.timestamp()))
    told = json.loads(body)
    assert (told["type"], told["threshold"]) == ("alert.balance", "1000")
    assert again(webhook_delivery).state == "delivered"


def test_the_receivers_check_in_the_document_takes_it_and_nothing_forged(
    webhook_delivery, webhook_posts, secret, settings
):
    page = (settings.BASE_DIR / "docs" / "alerts.md").read_text()
    names: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], names)  # noqa: S102 - our own page
    attempt_delivery(webhook_delivery.pk)
    ((headers, body),) = webhook_posts
    assert names["is_ours"](secret, headers, body)
    assert not names["is_ours"](secret, headers, body + b" ")
    assert not names["is_ours"](webhook.generate_webhook_secret(), headers, body)


@pytest.mark.parametrize("status", [302, 400, 500])
def test_a_failed_delivery_is_retried_with_backoff_then_quarantined(
    webhook_delivery, webhook_posts, status, time_machine
):
    webhook_posts.status = status
    for number, pause in enumerate(RETRY_DELAYS, 1):
        attempt_delivery(webhook_delivery.pk)
        assert again(webhook_delivery).state == "due"
        assert (webhook_delivery.attempts, webhook_delivery.status, webhook_delivery.due_at) == (
            number,
            status,
            timezone.now() + pause,
        )
        attempt_delivery(webhook_delivery.pk)  # not due yet
        assert len(webhook_posts) == number
        time_machine.shift(pause)
    attempt_delivery(webhook_delivery.pk)
    assert (again(webhook_delivery).state, webhook_delivery.error) == (
        "failed",
        f"The host responded with {status}.",
    )
    time_machine.shift(timedelta(days=9))
    attempt_delivery(webhook_delivery.pk)
    assert (
        len(webhook_posts) == len(RETRY_DELAYS) + 1
    )  # a redirect is not followed: nobody else was asked


def test_an_address_that_is_gone_for_good_is_quarantined_at_once(webhook_delivery, webhook_posts):
    webhook_posts.status = 410
    attempt_delivery(webhook_delivery.pk)
    assert (again(webhook_delivery).state, webhook_delivery.attempts) == ("failed", 1)


def test_a_host_that_does_not_answer_is_tried_again(webhook_delivery, team_webhook):
    team_webhook.url = "http://127.0.0.1:9/nobody"
    team_webhook.save()
    attempt_delivery(webhook_delivery.pk)
    assert (again(webhook_delivery).state, webhook_delivery.error) == (
        "due",
        "The host did not respond (ConnectError).",
    )


def test_a_worker_that_dies_leaves_it_due(
    webhook_delivery, webhook_posts, monkeypatch, time_machine
):
    def die(delivery):
        raise KeyboardInterrupt

    monkeypatch.setitem(queue.CHANNEL_SENDERS, "webhook", die)
    with pytest.raises(KeyboardInterrupt):
        attempt_delivery(webhook_delivery.pk)
    monkeypatch.undo()
    attempt_delivery(webhook_delivery.pk)
    assert len(webhook_posts) == 0
    time_machine.shift(queue.ATTEMPT_LEASE)
    attempt_delivery(webhook_delivery.pk)
    assert again(webhook_delivery).state == "delivered"


@pytest.mark.parametrize(
    ("raised", "state", "sentence"),
    [
        (smtplib.SMTPRecipientsRefused({"x": (550, b"no")}), "failed", "this address (550)."),
        (smtplib.SMTPRecipientsRefused({"x": (451, b"no")}), "due", "this address (451)."),
        (smtplib.SMTPAuthenticationError(535, b"user secret"), "due", "answered 535."),
        (ConnectionRefusedError("secret"), "due", "(ConnectionRefusedError)."),
        (smtplib.SMTPServerDisconnected("secret"), "due", "(SMTPServerDisconnected)."),
    ],
)
def test_what_a_mail_server_says_ends_in_a_sentence_without_secrets(
    event, thea, monkeypatch, raised, state, sentence
):
    def send(*_):
        raise raised

    monkeypatch.setattr("django.core.mail.EmailMessage.send", send)
    (row,) = schedule_deliveries(event())
    attempt_delivery(row.pk)
    assert (again(row).state, row.error.endswith(sentence)) == (state, True)
    assert "secret" not in row.error


@pytest.mark.parametrize(
    "address",
    [
        *("http://hooks.example/x", "https://hooks.example:8443/x", "ftp://hooks.example/x"),
        *("https://user:word@hooks.example/x", "https:///x", "nonsense", "https://[::1", ""),
    ],
)
def test_an_address_of_another_form_is_not_connected_to(settings, address):
    settings.VIDEO_API_IS_SANDBOX = False
    with pytest.raises(Undeliverable):
        webhook.parse_webhook_url(address)


@pytest.mark.parametrize(
    "found",
    [
        *("127.0.0.1", "10.0.0.7", "192.168.1.1", "172.16.0.1", "169.254.169.254"),
        *("100.64.0.1", "224.0.0.1", "::1", "fe80::1", "fc00::1", "::ffff:127.0.0.1"),
        *("64:ff9b::7f00:1", "2002:7f00:1::"),
    ],
)
def test_pitfall_ssrf_a_name_of_a_private_host_is_not_connected_to(settings, monkeypatch, found):
    settings.VIDEO_API_IS_SANDBOX = False
    entries = [(2, 1, 6, "", (it, 443)) for it in ("93.184.215.14", found)]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: entries)
    with pytest.raises(Undeliverable):
        webhook.resolve_webhook_address(webhook.parse_webhook_url("https://hooks.example/x"))


def test_on_the_demo_this_machine_is_allowed_but_never_the_sandbox(settings):
    settings.VIDEO_API_IS_SANDBOX = True
    assert webhook.resolve_webhook_address(
        webhook.parse_webhook_url("http://127.0.0.1:9000/x")
    ).is_loopback
    with pytest.raises(Undeliverable):
        webhook.parse_webhook_url(
            f"{settings.VIDEO_API_BASE_URL.replace('/v2', '')}/_sandbox/world"
        )
    settings.VIDEO_API_IS_SANDBOX = False
    with pytest.raises(Undeliverable):
        webhook.parse_webhook_url("http://127.0.0.1:9000/x")


def test_a_name_without_an_address_is_tried_again(monkeypatch):
    def none(*_, **__):
        raise OSError

    monkeypatch.setattr("socket.getaddrinfo", none)
    with pytest.raises(DeliveryFailed) as failed:
        webhook.resolve_webhook_address(webhook.parse_webhook_url("https://hooks.example/x"))
    assert not isinstance(failed.value, Undeliverable)


def test_the_secret_is_sealed_and_stands_in_no_row(team_webhook, secret):
    assert secret.encode() not in bytes(team_webhook.ciphertext)
    assert base64.b64decode(secret.removeprefix("whsec_")) not in bytes(team_webhook.ciphertext)


def test_the_tasks_enqueue_what_is_due(webhook_delivery, northlight, monkeypatch):
    rung: list[str] = []
    monkeypatch.setattr(tasks.deliver_alert, "delay", rung.append)
    tasks.deliver_due_alerts()
    assert rung == [str(webhook_delivery.pk)]
    monkeypatch.setattr(tasks.evaluate_alerts, "delay", rung.append)
    tasks.evaluate_all_alerts()
    assert rung == [str(webhook_delivery.pk), str(northlight.pk)]


def test_what_was_put_off_by_a_clock_that_was_put_back_is_due(webhook_delivery):
    now = timezone.now()
    for due_at, left in (
        (now + timedelta(days=2), now),
        (now + RETRY_DELAYS[-1], now + RETRY_DELAYS[-1]),
    ):
        Delivery.objects.update(due_at=due_at)
        queue.repair_due_times()
        assert again(webhook_delivery).due_at == left


def test_a_host_that_drips_its_answer_is_left_in_time(
    webhook_delivery, team_webhook, monkeypatch, settings
):
    """Each byte comes before the next would be too late, and the last one never."""
    with dripping() as port:
        team_webhook.url = f"http://127.0.0.1:{port}/"
        team_webhook.save()
        monkeypatch.setattr(outgoing_requests, "MAX_REQUEST_S", 0.3)
        attempt_delivery(webhook_delivery.pk)
    assert again(webhook_delivery).state == "due"
    assert webhook_delivery.error.startswith("The host did not respond")


def test_what_crashes_each_time_is_quarantined_without_another_try(webhook_delivery, webhook_posts):
    Delivery.objects.update(attempts=len(RETRY_DELAYS) + 1)
    attempt_delivery(webhook_delivery.pk)
    assert (again(webhook_delivery).state, webhook_delivery.error, webhook_posts) == (
        "failed",
        queue.ATTEMPTS_INTERRUPTED,
        [],
    )


@pytest.mark.parametrize("name", ["dispatch_charge", "reconcile_charge"])
def test_after_a_charge_was_sent_or_settled_its_team_is_evaluated(
    northlight, token, monkeypatch, name
):
    rung: list[str] = []
    monkeypatch.setattr(tasks.evaluate_alerts, "delay", rung.append)
    monkeypatch.setattr(f"proxyapi.tasks.{name}", lambda charge_id: None)
    job = JobFactory.create(account=token.account, token=token)
    charge = ChargeFactory.create(job=job)
    getattr(proxy_tasks, f"{name}_task").apply(args=(str(charge.pk),))
    assert rung == [str(northlight.pk)]


def test_an_unexpected_error_is_retried_then_quarantined_and_names_only_its_class(
    webhook_delivery, monkeypatch, caplog, time_machine
):
    def break_(delivery):
        raise RuntimeError("whsec_and-more")

    monkeypatch.setitem(queue.CHANNEL_SENDERS, "webhook", break_)
    for _ in range(len(RETRY_DELAYS) + 1):
        attempt_delivery(webhook_delivery.pk)
        time_machine.move_to(again(webhook_delivery).due_at)
    assert (webhook_delivery.state, webhook_delivery.attempts) == ("failed", len(RETRY_DELAYS) + 1)
    assert "RuntimeError" in webhook_delivery.error and "RuntimeError" in caplog.text
    assert "whsec_" not in webhook_delivery.error + caplog.text


def test_a_line_break_in_a_name_breaks_no_mail(event, mira, northlight):
    northlight.name = "North\nlight"
    northlight.save()
    (sent,) = schedule_deliveries(event())
    attempt_delivery(sent.pk)
    assert again(sent).state == "delivered"
    assert mail.outbox[0].subject.startswith("North light: ")


def test_who_lost_the_role_that_an_alert_is_for_gets_no_mail_that_was_due(event, mira, thea):
    rows = schedule_deliveries(event())
    thea.role = "producer"
    thea.save()
    for row in rows:
        attempt_delivery(row.pk)
    assert [sent.to for sent in mail.outbox] == [["mira@northlight.example"]]
    assert sorted(again(row).state for row in rows) == ["delivered", "failed"]
