"""A delivery that has ended is sent again: by whom, where to, and once at a time."""

from __future__ import annotations

import pytest
from django.contrib.messages import get_messages
from django.core import mail

from dashboard.alerts.actions import RESENDS_PER_MINUTE
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.models import AuditEvent, Delivery
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
    fields = {"channel": "webhook", "address": team_webhook.host, "webhook": team_webhook}
    return Delivery.objects.create(event=event(), state="failed", attempts=6, error="No.", **fields)


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


def test_a_webhook_is_sent_to_the_one_of_the_delivery(
    failed_post, team_webhook, add_webhook, webhook_posts, thea, client_of
):
    other = add_webhook("other")
    Delivery.objects.create(
        event=failed_post.event, channel="webhook", address=other.host, webhook=other
    )
    resend(client_of(thea), failed_post)
    attempt_delivery(failed_post.pk)
    failed_post.refresh_from_db()
    assert (failed_post.state, failed_post.webhook) == ("delivered", team_webhook)
    assert webhook_posts.paths == ["/alerts"]
    assert webhook_posts[0][0]["webhook-id"] == str(failed_post.event_id)


def test_when_its_webhook_was_removed_nothing_is_sent(
    failed_post, team_webhook, add_webhook, thea, client_of
):
    add_webhook("other")
    team_webhook.delete()
    assert "the webhook of this delivery was removed" in resend(client_of(thea), failed_post)
    assert failed_post.state == "failed"


def test_a_team_sends_a_limited_number_again_within_a_minute(failed_email, thea, client_of):
    browser = client_of(thea)
    for _ in range(RESENDS_PER_MINUTE):
        resend(browser, failed_email)
        Delivery.objects.update(state="failed")
    assert "Too many alerts were sent again within a minute." in resend(browser, failed_email)
    assert failed_email.state == "failed"
