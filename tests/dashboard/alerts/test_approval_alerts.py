"""Who is alerted of a request for an approval: of a charge, of an agent, of a batch."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dashboard.alerts.kinds.approval_request import open_requests
from dashboard.models import AgentApproval, AlertKind, ApprovalRequest, Batch
from proxyapi.gateway.keys import create_key, revoke_keys
from proxyapi.models import KeyScope
from tests.dashboard.alerts.conftest import NOON
from tests.dashboard.alerts.test_detectors import new_alert_titles, visible_alerts

pytestmark = pytest.mark.postgresql


def test_a_request_alerts_the_approvers(northlight, thea, priya, rule, charge):
    rule(AlertKind.APPROVAL_REQUEST)
    ApprovalRequest.objects.create(
        team=northlight, charge=charge(state="draft"), member=priya.user, note="For the fair."
    )
    assert new_alert_titles(northlight) == ["Priya requests 106 cr"]
    assert visible_alerts(thea, money=True) == ["Priya requests 106 cr"]
    assert visible_alerts(priya) == []


def test_several_items_of_an_agent_and_a_batch_alert_the_approvers(northlight, thea, priya, rule):
    rule(AlertKind.APPROVAL_REQUEST)
    made = create_key(northlight.tenant, priya.user_id, "Claude", [KeyScope.RENDER])
    asked = AgentApproval.objects.create(key=made.key, item_count=5, credits=100, hours=24)
    batch = Batch.objects.create(
        team=northlight, member=priya.user, name="Tides", approval_requested_at=NOON
    )
    titles = ["Claude requests up to 100 cr", "Priya asks to start a batch"]
    assert sorted(new_alert_titles(northlight)) == titles
    assert sorted(visible_alerts(thea, money=True)) == titles
    assert visible_alerts(priya) == []
    assert set(map(str, open_requests())) == {str(asked.pk), str(batch.pk)}
    batch.approval_requested_at = NOON + timedelta(minutes=5)  # changed, and asked for again
    batch.save()
    revoke_keys([made.key], NOON)
    assert new_alert_titles(northlight) == titles[1:]
    assert list(open_requests()) == [batch.pk]
