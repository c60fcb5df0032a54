"""A planned render: it is sent once, at a price that was confirmed, or not at all and with a
reason."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard import tasks
from dashboard.alerts.member_notifications import notify_members
from dashboard.models import (
    AlertEvent,
    AuditAction,
    AuditEvent,
    Budget,
    Membership,
    PlannedRender,
    Role,
)
from dashboard.models.planned_render import PlannedRenderQuerySet
from dashboard.studio import actions
from dashboard.studio.planned_renders import (
    continue_planned_render,
    plan_render,
    stop_planned_render,
)
from proxyapi.models import Charge, ChargeState, Draft, Job, Token, TokenState
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.studio.conftest import SCRIPT
from tests.dashboard.studio.planned import (
    confirm,
    create_unwritten_draft,
    fresh,
    price_draft,
    render_charges,
    send_script,
    write_script,
)

pytestmark = pytest.mark.postgresql


@pytest.fixture
def job(ready: Job) -> Job:
    """Complete but for its script."""
    return create_unwritten_draft(ready)


def ended_reason(job: Job) -> str:
    """Why the plan of a draft ended."""
    plan = PlannedRender.objects.get(job=job)
    assert plan.ended_at is not None
    return plan.reason


def test_only_the_script_is_charged_at_first(priya: Membership, job: Job) -> None:
    charge = confirm(priya, job)
    assert (charge.operation, charge.hold, charge.state) == ("faceless.scripts", 4, "held")
    assert Charge.objects.count() == 1
    plan = PlannedRender.objects.get()
    assert (plan.member, plan.script_charge, plan.limit) == (priya.user, charge, 119)


def test_the_render_is_sent_once_when_script_and_price_are_there(
    priya: Membership, job: Job
) -> None:
    write_script(confirm(priya, job))
    price_draft(job)
    for _ in range(3):
        continue_planned_render(job.pk)
    (render,) = render_charges(job)
    assert (render.quote, render.hold, render.member) == (96, 106, priya.user)
    assert render.state == ChargeState.HELD
    assert not PlannedRender.objects.exists()
    row = AuditEvent.objects.filter(action=AuditAction.CHARGE_CREATE).latest("position")
    assert (row.actor_name, row.source) == (str(priya.user), "system")


@pytest.mark.parametrize("state", [ChargeState.HELD, ChargeState.SENDING])
def test_it_waits_for_the_script(priya: Membership, job: Job, state: ChargeState) -> None:
    charge = confirm(priya, job)
    if state == ChargeState.SENDING:
        send_script(charge)
    continue_planned_render(job.pk)
    assert PlannedRender.objects.active().exists()
    assert not render_charges(job)


def test_it_waits_for_the_price(priya: Membership, job: Job) -> None:
    write_script(confirm(priya, job))
    assert fresh(job).draft.quote_due_at  # it is requested by the arrival of the script
    continue_planned_render(job.pk)
    assert PlannedRender.objects.active().exists()
    assert not render_charges(job)


@pytest.mark.parametrize(("credits", "is_sent"), [(108, True), (109, False)])
def test_a_price_above_the_limit_is_asked_again(
    priya: Membership, job: Job, credits: int, is_sent: bool
) -> None:
    """The hold of 108 is 119, which is the limit; that of 109 is above it."""
    write_script(confirm(priya, job))
    price_draft(job, credits)
    continue_planned_render(job.pk)
    assert len(render_charges(job)) == is_sent
    if not is_sent:
        assert "120 cr would be held, more than the 119 cr" in ended_reason(job)


def deactivate(priya: Membership, job: Job) -> None:
    Membership.objects.filter(pk=priya.pk).update(deactivated_at=timezone.now())


def remove(priya: Membership, job: Job) -> None:
    priya.delete()


def demote(priya: Membership, job: Job) -> None:
    Membership.objects.filter(pk=priya.pk).update(role=Role.VIEWER)


def remove_token(priya: Membership, job: Job) -> None:
    Token.objects.update(state=TokenState.REMOVED)


def stop_charges(priya: Membership, job: Job) -> None:
    tenant = priya.team.tenant
    tenant.charges_stopped_at, tenant.charge_stop_reason = timezone.now(), "An audit"
    tenant.save()


def use_up_budget(priya: Membership, job: Job) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=Decimal(109))


def need_second_person(priya: Membership, job: Job) -> None:
    priya.team.second_person_above = Decimal(105)
    priya.team.save()


def spend_credits(priya: Membership, job: Job) -> None:
    job.account.balance = Decimal(50)
    job.account.save()


def change_setting(priya: Membership, job: Job) -> None:
    actions.save_draft_step(by=priya, job=job, changes={"voice_id": 7})
    price_draft(job)


def change_row(priya: Membership, job: Job) -> None:
    """As the images of a page change it, past the actions of the studio."""
    settings = fresh(job).draft.settings
    Draft.objects.filter(pk=job.pk).update(settings={**settings, "genre_id": 942})
    price_draft(job)


def edit_script(priya: Membership, job: Job) -> None:
    settings = fresh(job).draft.settings
    Draft.objects.filter(pk=job.pk).update(settings={**settings, "script": f"{SCRIPT} More."})
    price_draft(job)


def lose_price(priya: Membership, job: Job) -> None:
    Draft.objects.update(estimate=None, quote_error="The service does not price it.")


def expire(priya: Membership, job: Job) -> None:
    PlannedRender.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("happen", "sentence"),
    [
        (deactivate, "Priya is no longer in the team, or may no longer render."),
        (remove, "Priya is no longer in the team, or may no longer render."),
        (demote, "Priya is no longer in the team, or may no longer render."),
        (remove_token, "The token of this draft does not work."),
        (stop_charges, "stopped all charges of the team"),
        (use_up_budget, "105 of your 109 are left"),
        (need_second_person, "second person"),
        (spend_credits, "It needs 106 cr"),
        (change_setting, actions.PLAN_ENDED_BY_CHANGE),
        (change_row, actions.PLAN_ENDED_BY_CHANGE),
        (edit_script, actions.PLAN_ENDED_BY_CHANGE),
        (lose_price, "The service does not price it."),
        (expire, "did not arrive within 24 hours"),
    ],
)
def test_whatever_stands_in_its_way_ends_it_with_a_reason(
    priya: Membership,
    job: Job,
    happen: Callable[[Membership, Job], None],
    sentence: str,
) -> None:
    write_script(confirm(priya, job))
    price_draft(job)
    happen(priya, job)
    continue_planned_render(job.pk)
    continue_planned_render(job.pk)
    assert not render_charges(job)
    assert sentence in ended_reason(job)


@pytest.mark.parametrize(
    ("state", "fields", "sentence"),
    [
        (ChargeState.REFUSED, {"reason": "No credits."}, "was not written: No credits."),
        (ChargeState.UNKNOWN, {}, "was lost or incomplete"),
        (ChargeState.MATCHED, {"cost": Decimal(4)}, "was lost or incomplete"),
    ],
)
def test_a_script_without_a_whole_answer_ends_it(
    priya: Membership, job: Job, state: ChargeState, fields: dict[str, Any], sentence: str
) -> None:
    """Also one that was read back: a person reviews it."""
    charge = confirm(priya, job)
    write_script(charge)
    price_draft(job)
    now = timezone.now()
    fields = {"settled_at": None if state == ChargeState.UNKNOWN else now, "cost": None, **fields}
    Charge.objects.filter(pk=charge.pk).update(state=state, **fields)
    continue_planned_render(job.pk)
    assert not render_charges(job)
    assert sentence in ended_reason(job)


def test_a_render_that_a_person_sent_is_the_only_one(
    priya: Membership, luca: Membership, job: Job
) -> None:
    """Also after the service has refused it."""
    write_script(confirm(priya, job))
    price_draft(job)
    charge = actions.render_video(by=luca, job=fresh(job), nonce=uuid.uuid4(), seen=Decimal(96))
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.REFUSED, reason="No.", settled_at=timezone.now()
    )
    continue_planned_render(job.pk)
    assert render_charges(job) == [charge]
    assert not PlannedRender.objects.exists()


def test_a_script_that_is_requested_again_takes_the_plan_of_the_first_away(
    priya: Membership, job: Job
) -> None:
    write_script(confirm(priya, job))
    chosen = {"topic": "Snow", "duration": 60}
    actions.write_script(
        by=priya, job=fresh(job), nonce=uuid.uuid4(), seen=Decimal(4), chosen=chosen
    )
    price_draft(job)
    continue_planned_render(job.pk)
    assert not PlannedRender.objects.exists()
    assert not render_charges(job)


def test_a_person_stops_it_and_the_script_is_written_all_the_same(
    priya: Membership, luca: Membership, job: Job
) -> None:
    charge = confirm(priya, job)
    stop_planned_render(by=luca, job=job)
    write_script(charge)
    price_draft(job)
    continue_planned_render(job.pk)
    assert not render_charges(job)
    assert fresh(job).draft.settings["script"] == SCRIPT
    with pytest.raises(StaleData):
        stop_planned_render(by=luca, job=job)


def test_a_worker_that_dies_at_the_admission_leaves_neither_half(
    priya: Membership, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(confirm(priya, job))
    price_draft(job)

    def die(plans: PlannedRenderQuerySet) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PlannedRenderQuerySet, "remove_active", die)
        with pytest.raises(KeyboardInterrupt):
            continue_planned_render(job.pk)
    assert not render_charges(job)
    assert PlannedRender.objects.active().exists()
    continue_planned_render(job.pk)
    assert len(render_charges(job)) == 1


def test_the_sweep_finds_a_plan_whose_task_was_lost(
    priya: Membership, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(confirm(priya, job))
    price_draft(job)
    sent: list[str] = []
    monkeypatch.setattr(tasks.continue_planned_render, "delay", sent.append)
    tasks.sweep_planned_renders()
    assert sent == [str(job.pk)]
    tasks.continue_planned_render(sent[0])
    assert len(render_charges(job)) == 1
    tasks.sweep_planned_renders()
    assert len(sent) == 1


def test_a_form_that_is_sent_twice_plans_once(priya: Membership, job: Job) -> None:
    """Also after its plan has ended: it does not come back."""
    charge = confirm(priya, job)
    plan = PlannedRender.objects.get()
    again: dict[str, Any] = {
        "nonce": charge.nonce,
        "seen": Decimal(4),
        "chosen": {"topic": "How ice moves", "duration": 60},
        "limit": Decimal(999),
        "digest": plan.settings_digest,
    }
    assert plan_render(by=priya, job=fresh(job), **again) == charge
    assert PlannedRender.objects.get().limit == 119
    stop_planned_render(by=priya, job=job)
    assert plan_render(by=priya, job=fresh(job), **again) == charge
    assert not PlannedRender.objects.exists()


def test_settings_that_changed_since_the_question_are_confirmed_again(
    priya: Membership, job: Job
) -> None:
    shown: dict[str, Any] = {"seen": Decimal(4), "limit": Decimal(119), "digest": "0" * 64}
    with pytest.raises(Refusal, match="settings of this draft have changed"):
        plan_render(
            by=priya, job=job, nonce=uuid.uuid4(), chosen={"topic": "Ice", "duration": 60}, **shown
        )
    assert not Charge.objects.exists()
    assert not PlannedRender.objects.exists()


def test_its_person_is_notified_once_that_it_was_not_sent(
    priya: Membership, luca: Membership, job: Job
) -> None:
    write_script(confirm(priya, job))
    price_draft(job, 400)
    continue_planned_render(job.pk)
    for _ in range(2):
        notify_members(priya.team_id)
    event = AlertEvent.objects.get()
    assert (event.member, event.title) == (priya.user, f"“{job.title}” was not rendered")
    assert "more than the 119 cr" in event.text
    assert event.url == f"/studio/{job.pk}/"
    row = AuditEvent.objects.get(action=AuditAction.RENDER_PLAN_END)
    assert row.details["reason"] == event.text


def test_a_deleted_draft_is_not_rendered(priya: Membership, job: Job) -> None:
    write_script(confirm(priya, job))
    price_draft(job)
    actions.delete_draft(by=priya, job=fresh(job))
    continue_planned_render(job.pk)
    actions.restore_draft(by=priya, job=fresh(job))
    continue_planned_render(job.pk)
    assert not render_charges(job)
