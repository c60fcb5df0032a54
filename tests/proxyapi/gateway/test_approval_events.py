"""The life of a script's approval request, as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.utils import timezone

from dashboard.api_keys import team_rules
from dashboard.budgets.actions import approve_request, decline_request
from dashboard.models import ApprovalRequest, Membership
from proxyapi.models import ApiEvent, Job
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.proxyapi.gateway.event_client import FROM_THE_BEGINNING, read
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, error_response

RENDER = ("POST", "/faceless/7/render")


def types_of_approval() -> list[str]:
    events = ApiEvent.objects.filter(event_type__startswith="approval.").order_by("happened_at")
    assert {event.data["url"] for event in events} == {
        team_rules.absolute_url(ApprovalRequest.objects.get())
    }
    return [event.event_type.partition(".")[2] for event in events]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (charged_response({"id": 7}, 10), ["requested", "approved", "sent"]),
        (error_response(422, "GEN-WRONG-ARGS"), ["requested", "approved", "failed"]),
        (httpx.ReadTimeout("lost"), ["requested", "approved", "sent"]),
    ],
    ids=["charged", "refused", "lost"],
)
def test_an_approval_is_told_from_its_request_to_what_became_of_it(
    make_script: Callable[..., Script],
    upstream: ScriptedUpstream,
    worker: Worker,
    thea: Membership,
    answer: Any,
    told: list[str],
) -> None:
    upstream.respond(*RENDER, answer)
    script = make_script(daily_limit=5)
    script.call(*RENDER)
    approve_request(by=thea, approval=ApprovalRequest.objects.get())
    worker.finish()
    assert types_of_approval() == told
    messages = read(script, 4, **FROM_THE_BEGINNING)
    assert {one["data"]["key"] for one in messages} == {str(script.key.pk)}


def decline(script: Script, thea: Membership, approval: ApprovalRequest) -> None:
    decline_request(by=thea, approval=approval, reason="No.")


def cancel(script: Script, thea: Membership, approval: ApprovalRequest) -> None:
    script.call("DELETE", f"/_charges/{approval.charge_id}")


def outdate(script: Script, thea: Membership, approval: ApprovalRequest) -> None:
    Job.objects.update(started_at=timezone.now())
    approve_request(by=thea, approval=approval)


@pytest.mark.parametrize(
    ("decide", "told"), [(decline, "declined"), (cancel, "cancelled"), (outdate, "expired")]
)
def test_a_request_that_is_not_sent_is_told_and_its_charge_is_not(
    make_script: Callable[..., Script], thea: Membership, decide: Any, told: str
) -> None:
    script = make_script(daily_limit=5)
    script.call(*RENDER)
    decide(script, thea, ApprovalRequest.objects.get())
    assert types_of_approval() == ["requested", told]
    assert [one["type"] for one in read(script, 2, **FROM_THE_BEGINNING)][1] == f"approval.{told}"
