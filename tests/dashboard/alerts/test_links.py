"""Where the link of an alert leads: mails and webhooks contain it as well."""

from __future__ import annotations

from datetime import timedelta

from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind
from proxyapi.models import ChargeState, Job, JobKind
from tests.dashboard.alerts.conftest import NOON


def test_an_unknown_charge_links_the_page_of_its_job_unless_it_is_hidden(northlight, rule, charge):
    rule(AlertKind.UNKNOWN_CHARGE, 15)
    sent = {"state": ChargeState.UNKNOWN, "sent_at": NOON - timedelta(hours=1)}
    clone, hidden, video = (charge(**sent).job_id for _ in range(3))
    Job.objects.filter(pk=clone).update(kind=JobKind.CLONE)
    Job.objects.filter(pk=hidden).update(hidden_at=NOON)
    evaluate_team(northlight.pk)
    links = set(AlertEvent.objects.values_list("url", flat=True))
    assert links == {f"/voices/{clone}/", "", f"/videos/{video}/"}
