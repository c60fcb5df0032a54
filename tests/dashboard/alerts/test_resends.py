"""A delivery that has ended is sent again: by whom, where to, and once at a time."""

from __future__ import annotations

import pytest
from django.contrib.messages import get_messages
from django.core import mail

from dashboard.alerts.actions import RESENDS_PER_MINUTE
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.models import AlertWebhook, AuditEvent, Delivery
from tests.dashboard.alerts.conftest import NOON

LOG = "/alerts/deliveries/"


@pytest.fixture
def failed_email(event, thea):
    return Delivery.objects.create(
        event=event(),
        channel="email",
        address=thea.user.email,
        state="failed",
        attempts=6,
        error="No.",
    )


@pytest.fixture
def failed_post(event, team_webhook):
    fields = {"channel": "webhook", "address": "old.example", "state": "failed"}
    return Delivery.objects.create(event=event(), attempts=6, error="No.", **fields)


def resend(browser, delivery):
    answer = browser.post(f"{LOG}{delivery.pk}/resends/")
    assert answer.url == LOG
    delivery.refresh_from_db()
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def test_a_failed_email_is_sent_again(failed_email, thea, client_of):
    browser = client_of(thea)
    assert f"{failed_email.pk}/resends/" in browser.get(LOG).content.decode()
    assert "The alert is sent again." in resend(browser, failed_email)
    assert (failed_email.state, failed_email.attempts, failed_email.error) == ("due", 0, "")
    assert f"{failed_email.pk}/resends/" not in browser.get(LOG).content.decode()
    attempt_delivery(failed_email.pk)
    assert [sent.to for sent in mail.outbox] == [[thea.user.email]]
    entry = AuditEvent.objects.get()
    assert (entry.action, entry.before) == ("alert.resend", {"state": "failed"})


def test_a_delivered_one_is_sent_again(failed_email, thea, client_of):
    Delivery.objects.update(state="delivered", delivered_at=NOON)
    resend(client_of(thea), failed_email)
    assert (failed_email.state, failed_email.delivered_at) == ("due", None)


def test_one_that_waits_for_its_next_attempt_is_not_sent_twice(failed_email, thea, client_of):
    browser = client_of(thea)
    resend(browser, failed_email)
    Delivery.objects.update(attempts=2)
    assert "this delivery is already being sent" in resend(browser, failed_email)
    assert failed_email.attempts == 2
    assert AuditEvent.objects.count() == 1


def test_a_webhook_is_sent_to_the_address_that_is_set_now(
    failed_post, webhook_posts, thea, client_of
):
    resend(client_of(thea), failed_post)
    attempt_delivery(failed_post.pk)
    failed_post.refresh_from_db()
    assert (failed_post.state, failed_post.address) == ("delivered", "127.0.0.1")
    assert webhook_posts[0][0]["webhook-id"] == str(failed_post.event_id)


def test_the_new_address_keeps_one_line_for_each_alert(failed_post, thea, client_of):
    Delivery.objects.create(event=failed_post.event, channel="webhook", address="127.0.0.1")
    assert "the webhook is 127.0.0.1 now" in resend(client_of(thea), failed_post)
    assert failed_post.state == "failed"


def test_without_a_webhook_nothing_is_sent(failed_post, thea, client_of):
    AlertWebhook.objects.all().delete()
    assert "the webhook was removed" in resend(client_of(thea), failed_post)
    assert failed_post.state == "failed"


def test_who_may_not_send_a_test_may_not_send_again(failed_email, priya, otto, client_of):
    url = f"{LOG}{failed_email.pk}/resends/"
    assert client_of(priya).post(url).status_code == 403
    assert client_of(otto).post(url).status_code == 404
    assert Delivery.objects.get().state == "failed"


def test_a_team_sends_a_limited_number_again_within_a_minute(failed_email, thea, client_of):
    browser = client_of(thea)
    for _ in range(RESENDS_PER_MINUTE):
        resend(browser, failed_email)
        Delivery.objects.update(state="failed")
    assert "Too many alerts were sent again within a minute." in resend(browser, failed_email)
    assert failed_email.state == "failed"
