"""Events of the API by webhook: chosen by type, signed, retried, disabled after days."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core import mail
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from dashboard import tasks
from dashboard.alerts import actions
from dashboard.alerts.delivery import api_events, queue, webhook
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind, AlertWebhook, AuditEvent, Delivery
from dashboard.shared.notices import schedule_deliveries
from proxyapi.models import Account, ApiEvent, ApiEventType
from proxyapi.refusals import Refusal
from tests.dashboard.alerts.conftest import NOON
from tests.dashboard.members import conftest
from tests.factories import JobFactory

confirmed_client_of = conftest.confirmed_client_of
LOG = "/alerts/deliveries/"
pytestmark = pytest.mark.postgresql
DATA = {
    "state": "unknown",
    "job": None,
    "resource": "7",
    "credits": "42",
    "url": "/api/v2/faceless/7",
}


@pytest.fixture
def record(northlight, priya):
    def make(event_type="video.completed"):
        ApiEvent.objects.record(
            ApiEventType(event_type),
            uuid4(),
            DATA,
            tenant_id=northlight.tenant_id,
            member_id=priya.user_id,
        )
        return ApiEvent.objects.latest("happened_at", "pk")

    return make


@pytest.fixture
def listening(add_webhook):
    return add_webhook("events", event_types=["video.completed", "approval.failed"])


def schedule(team):
    return api_events.schedule_event_deliveries(team.tenant_id)


def deliver(team):
    for row in schedule(team):
        queue.attempt_delivery(row.pk)


def test_a_chosen_event_arrives_signed_and_the_library_verifies_it(
    northlight, record, listening, webhook_posts, secret
):
    event = record()
    deliver(northlight)
    ((headers, body),) = webhook_posts
    assert Webhook(secret).verify(body, headers) == {
        "id": str(event.pk),
        "type": "video.completed",
        "timestamp": event.happened_at.isoformat().replace("+00:00", "Z"),
        "data": {**DATA, "key": None},
    }
    assert headers["webhook-id"] == str(event.pk)
    for forged in (body.replace(b"42", b"43"), body + b" "):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(forged, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(webhook.generate_webhook_secret()).verify(body, headers)


def test_each_webhook_gets_each_event_it_chose_once(
    northlight, record, listening, add_webhook, webhook_posts
):
    add_webhook("all", event_types=ApiEventType.values)
    add_webhook("alerts")
    for event_type in ("video.completed", "video.failed", "approval.failed"):
        record(event_type)
    deliver(northlight)
    deliver(northlight)
    assert sorted(webhook_posts.paths) == ["/all"] * 3 + ["/events"] * 2


def test_a_webhook_without_alerts_gets_none_but_the_test(
    event, thea, listening, team_webhook, webhook_posts
):
    for row in schedule_deliveries(event()):
        queue.attempt_delivery(row.pk)
    assert webhook_posts.paths == ["/alerts"]
    webhook_posts.paths.clear()
    for row in actions.send_test_alert(by=thea):
        queue.attempt_delivery(row.pk)
    assert sorted(webhook_posts.paths) == ["/alerts", "/events"]
    assert json.loads(webhook_posts[-1][1])["test"] is True


def test_an_event_is_no_alert(northlight, record, listening, mira, client_of):
    record()
    deliver(northlight)
    assert not AlertEvent.objects.visible_to(mira, money=True).exists()
    assert "video.completed" not in client_of(mira).get("/alerts/").text
    assert mail.outbox == []
    log = client_of(mira).get("/alerts/deliveries/").text
    assert "video.completed: a video is finished" in log and "Delivered" in log


def test_the_log_shows_alerts_or_events_alone(
    northlight, record, event, listening, team_webhook, mira, client_of
):
    record()
    deliver(northlight)
    for row in schedule_deliveries(event()):
        queue.attempt_delivery(row.pk)
    shown = {
        only: [
            words in client_of(mira).get(f"{LOG}?only={only}", headers={"HX-Request": "true"}).text
            for words in ("video.completed: a", "900 cr are free")
        ]
        for only in ("", "alerts", "events", "nonsense")
    }
    assert shown == {
        "": [True, True],
        "alerts": [False, True],
        "events": [True, False],
        "nonsense": [True, True],
    }


def test_what_the_task_missed_is_found_by_the_beat(northlight, record, listening, monkeypatch):
    sent: list[str] = []
    monkeypatch.setattr(tasks.send_events, "delay", sent.append)
    tasks.deliver_due_alerts()
    assert sent == []
    record()
    tasks.deliver_due_alerts()
    assert sent == [str(northlight.tenant_id)]
    schedule(northlight)
    tasks.deliver_due_alerts()
    assert len(sent) == 1


def test_one_that_fails_is_sent_again_with_the_same_id_and_then_given_up_after_days(
    northlight, record, listening, webhook_posts, time_machine
):
    webhook_posts.status = 500
    event = record()
    (row,) = schedule(northlight)
    began = timezone.now()
    while Delivery.objects.get().state == "due":
        time_machine.move_to(max(Delivery.objects.get().due_at, timezone.now()), tick=False)
        queue.attempt_delivery(row.pk)
    assert len(webhook_posts) == 8
    assert {headers["webhook-id"] for headers, _ in webhook_posts} == {str(event.pk)}
    assert timedelta(days=2) < timezone.now() - began < timedelta(days=3)
    assert Delivery.objects.get().state == "failed"


def test_it_arrives_when_the_host_recovers(
    northlight, record, listening, webhook_posts, time_machine
):
    webhook_posts.status = 500
    record()
    deliver(northlight)
    listening.refresh_from_db()
    assert listening.failing_since == NOON
    webhook_posts.status = 200
    time_machine.move_to(Delivery.objects.get().due_at, tick=False)
    queue.attempt_delivery(Delivery.objects.get().pk)
    listening.refresh_from_db()
    assert (Delivery.objects.get().state, listening.failing_since) == ("delivered", None)


def test_a_redirect_is_not_followed(northlight, record, listening, webhook_posts):
    webhook_posts.status = 302
    record()
    deliver(northlight)
    assert webhook_posts.paths == ["/events"]
    assert Delivery.objects.get().error == "The host responded with 302."


def test_a_private_address_is_not_connected_to(northlight, record, add_webhook, monkeypatch):
    add_webhook("x", event_types=["video.completed"])
    AlertWebhook.objects.update(url="https://10.0.0.1/hook")
    record()
    deliver(northlight)
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == ("failed", 1)
    assert "not public" in row.error


def test_after_three_days_of_failures_it_is_disabled_and_who_manages_it_is_told(
    northlight, record, listening, webhook_posts, thea, time_machine
):
    webhook_posts.status = 500
    record()
    deliver(northlight)
    time_machine.move_to(NOON + timedelta(days=3), tick=False)
    record()
    deliver(northlight)
    listening.refresh_from_db()
    assert listening.disabled_at == timezone.now()
    notice = AlertEvent.objects.get(member=thea.user)
    assert notice.title == "The webhook 127.0.0.1 was disabled"
    webhook_posts.clear()
    record()
    assert schedule(northlight) == []
    for row in Delivery.objects.filter(channel="webhook"):
        Delivery.objects.update(due_at=NOON)
        queue.attempt_delivery(row.pk)
        with pytest.raises(Refusal, match="is disabled"):
            actions.resend_delivery(by=thea, delivery=row)
    assert webhook_posts == []


def test_an_address_that_is_gone_is_disabled_at_once(
    northlight, record, listening, webhook_posts, thea
):
    webhook_posts.status = 410
    record()
    deliver(northlight)
    listening.refresh_from_db()
    assert listening.disabled_at == NOON
    assert "no longer exists" in AlertEvent.objects.get(member=thea.user).text


def test_a_script_hears_of_low_credits_once(northlight, account, rule):
    rule(AlertKind.BALANCE, 5000)
    Account.objects.update(peak_balance=6000)
    evaluate_team(northlight.pk)
    evaluate_team(northlight.pk)
    event = ApiEvent.objects.get()
    assert (event.event_type, event.member_id) == ("credits.low", None)
    assert event.data["threshold"] == "5000"
    assert event.data["account"] == str(account.pk)


def test_an_event_goes_with_its_deliveries(northlight, record, listening):
    record()
    deliver(northlight)
    ApiEvent.objects.all().delete()
    assert not Delivery.objects.exists() and not AlertEvent.objects.exists()


def test_the_events_of_a_webhook_are_chosen_in_its_dialog(listening, thea, client_of):
    browser, url = client_of(thea), f"/alerts/webhooks/{listening.pk}/"
    page = browser.get(url).text
    assert 'value="video.completed"' in page and "a video is finished" in page
    chosen = {"name": "ERP", "event_types": ["alert", "credits.low"]}
    assert browser.post(url, {**chosen, "drawn": actions.webhook_version(listening)}).url == LOG
    listening.refresh_from_db()
    assert (listening.name, listening.event_types) == ("ERP", ["alert", "credits.low"])
    assert "Alerts and 1 event type" in browser.get(LOG).text
    assert AuditEvent.objects.get().after["events"] == "alert, credits.low"


def test_a_webhook_that_was_changed_meanwhile_is_saved_only_when_sent_again(
    listening, thea, client_of
):
    browser, url = client_of(thea), f"/alerts/webhooks/{listening.pk}/"
    chosen = {"name": "ERP", "event_types": ["alert"], "drawn": actions.webhook_version(listening)}
    AlertWebhook.objects.update(event_types=["credits.low"])
    answer = browser.post(url, chosen)
    assert answer.status_code == 422
    assert "changed in another window" in answer.text and 'value="ERP"' in answer.text
    listening.refresh_from_db()
    assert (listening.name, listening.event_types) == ("", ["credits.low"])
    (drawn,) = re.findall(r'name="drawn" value="([^"]*)"', answer.text)
    drawn = html.unescape(drawn)
    assert browser.post(url, {**chosen, "drawn": drawn}).url == LOG
    listening.refresh_from_db()
    assert listening.event_types == ["alert"]


@pytest.mark.parametrize("types", [[], ["video.done"]])
def test_what_is_no_choice_is_refused_and_kept_as_it_was(listening, thea, client_of, types):
    answer = client_of(thea).post(f"/alerts/webhooks/{listening.pk}/", {"event_types": types})
    assert answer.status_code == 422
    listening.refresh_from_db()
    assert listening.event_types == ["video.completed", "approval.failed"]


def test_a_new_webhook_gets_what_happens_from_then_on(
    northlight, record, webhook_posts, thea, client_of
):
    record()
    form = {"url": webhook_posts.url, "event_types": ["video.completed"]}
    client_of(thea).post("/alerts/webhooks/", form)
    deliver(northlight)
    assert webhook_posts == []
    record()
    deliver(northlight)
    assert len(webhook_posts) == 1


def test_while_the_secret_is_rotated_both_verify(
    northlight, record, listening, webhook_posts, secret, thea, client_of, confirmed_client_of
):
    url = f"/alerts/webhooks/{listening.pk}/rotations/"
    assert client_of(thea).post(url).status_code == 422  # nobody confirmed
    browser = confirmed_client_of(thea)
    assert "whsec_" not in browser.get(url).text
    answer = browser.post(url)
    (new,) = (html.unescape(found) for found in re.findall(r"<code>(whsec_[^<]+)", answer.text))
    assert "no-store" in answer.headers["Cache-Control"]
    assert "whsec_" not in browser.get(LOG).text
    record()
    deliver(northlight)
    ((headers, body),) = webhook_posts
    assert [bool(Webhook(one).verify(body, headers)) for one in (secret, new)] == [True, True]
    listening.refresh_from_db()
    assert len(webhook.decrypt_webhook_secrets(listening)) == 2
    a_day_later = listening.previous_until
    only = webhook.webhook_headers(listening, "x", a_day_later, b"{}")["webhook-signature"]
    assert only == Webhook(new).sign("x", a_day_later, "{}")


def test_a_disabled_webhook_is_enabled_again(northlight, record, listening, thea, client_of):
    AlertWebhook.objects.update(disabled_at=NOON, failing_since=NOON)
    record()
    browser = client_of(thea)
    assert "Disabled" in browser.get(LOG).text
    assert browser.post(f"/alerts/webhooks/{listening.pk}/activations/").url == LOG
    listening.refresh_from_db()
    assert (listening.disabled_at, listening.failing_since) == (None, None)
    assert schedule(northlight) == []
    record()
    assert len(schedule(northlight)) == 1


def test_a_chat_gets_the_type_the_amount_and_a_link_to_the_page(
    northlight, add_webhook, webhook_posts, token, settings
):
    settings.PORTAL_URL = "https://reelroom.example"
    add_webhook("slack", message_format="slack", event_types=["clip.completed"])
    job = JobFactory.create(account=token.account, token=token, title="<!channel> secret prompt")
    ApiEvent.objects.record(
        ApiEventType.CLIP_COMPLETED, job.pk, {**DATA, "job": job.pk}, tenant_id=northlight.tenant_id
    )
    deliver(northlight)
    assert json.loads(webhook_posts[0][1])["text"] == (
        "*clip.completed: a clip is finished*\n7, 42 cr\n"
        f"<https://reelroom.example/videos/{job.pk}/|View in Reelroom>"
    )


def test_two_that_schedule_at_once_deliver_once(northlight, record, listening):
    record()
    last = ApiEvent.objects.number_new(northlight.tenant_id)
    assert len(api_events.give_new_events(listening.pk, last)) == 1
    assert api_events.give_new_events(listening.pk, last) == []
    listening.delete()
    assert api_events.give_new_events(listening.pk, last + 1) == []
