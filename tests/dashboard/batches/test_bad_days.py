"""What stands in the way of a running batch pauses it with a sentence; the rest is kept."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.alerts.member_notifications import notify_members
from dashboard.batches import actions
from dashboard.models import (
    AlertEvent,
    Batch,
    BatchRow,
    Budget,
    Label,
    Membership,
    Preset,
    Role,
)
from proxyapi.models import Account, AccountPlan, Charge, DatabaseEpoch, Token, TokenState
from proxyapi.refusals import Refusal
from tests.dashboard.batches.conftest import (
    advance,
    charges_of,
    dry_run,
    render_all,
    start,
    states,
    topics,
)
from tests.dashboard.studio.conftest import OPTIONS
from tests.factories import MembershipFactory, TokenFactory

pytestmark = pytest.mark.postgresql


def credits_run_out(batch):
    Account.objects.update(balance=Decimal(100))


def plan_lapses(batch):
    Account.objects.update(plan=AccountPlan.NONE)
    Token.objects.update(state=TokenState.PAUSED)


def token_is_revoked(batch):
    """Somebody else's token is not used in its place."""
    Token.objects.update(state=TokenState.REVOKED, state_since=timezone.now())
    luca = MembershipFactory.create(team=batch.team)
    TokenFactory.create(account=Account.objects.get(), owner=luca.user)


def budget_is_lowered(batch):
    Budget.objects.create(team=batch.team, member=batch.member, period="month", hard=60)


def label_has_a_budget(batch):
    Budget.objects.create(
        team=batch.team, label=Label.objects.get(name="Lakes"), period="month", hard=20
    )


def preset_is_deleted(batch):
    Preset.objects.all().delete()


def member_leaves(batch):
    Membership.objects.filter(user=batch.member).update(deactivated_at=timezone.now())


def role_changes(batch):
    Membership.objects.filter(user=batch.member).update(role=Role.VIEWER)


def script_price_changes(batch):
    Account.objects.update(costs={"CONTENT_PROMPT_REQUESTED": {"credits": 9}})


def database_is_restored(batch):
    DatabaseEpoch.objects.create(number=DatabaseEpoch.objects.get_or_create_current().number + 1)


@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (credits_run_out, "Not sent. It needs"),
        (plan_lapses, "The account has no paid plan."),
        (token_is_revoked, "You have no token yet"),
        (budget_is_lowered, "Not sent."),
        (label_has_a_budget, "Not sent."),
        (preset_is_deleted, "The preset “Noir” was deleted. What has begun goes on."),
        (member_leaves, "Priya is no longer in the team, or may no longer render."),
        (role_changes, "Priya is no longer in the team, or may no longer render."),
        (database_is_restored, "The database was restored from a backup."),
        (script_price_changes, "Not sent. The price was 4 cr and is 9 cr now"),
    ],
)
def test_it_pauses_with_a_sentence_and_keeps_the_rest(make_batch, priya, happen, reason):
    preset = Preset.objects.create(
        team=priya.team, name="Noir", type="ai-visuals", created_by=priya.user
    )
    lines = topics(4)
    batch = make_batch(*lines, at_once=1, preset=preset, preset_name="Noir")
    batch = advance(start(priya, batch))
    assert states(batch) == ["begun", "waiting", "waiting", "waiting"]
    BatchRow.objects.filter(batch=batch, number=1).update(state="failed", reason="x")
    sent = Charge.objects.count()
    happen(batch)
    batch = advance(batch)
    assert batch.state == "paused"
    assert batch.pause_reason.startswith(reason)
    assert states(batch)[1:] == ["waiting"] * 3
    assert Charge.objects.count() == sent


def test_the_page_of_a_member_who_left_says_so(make_batch, priya, luca, client_of):
    batch = make_batch(*topics(1))
    priya.delete()
    page = client_of(luca).get(f"/batches/{batch.pk}/").content.decode()
    assert "Priya is no longer in the team, or may no longer render." in page


def test_an_option_that_is_gone_fails_its_row_alone(make_batch, priya):
    batch = start(priya, make_batch("Fog,Why,,Theo,,,", *topics(1)))
    voices = [one for one in OPTIONS["mandatory"]["voices"] if one["name"] != "Theo"]
    options = {**OPTIONS, "mandatory": {**OPTIONS["mandatory"], "voices": voices}}
    Account.objects.update(options=options)
    batch = advance(batch)
    assert states(batch) == ["failed", "begun"]
    assert BatchRow.objects.get(number=1).reason.startswith("D2: “Theo” is no voice")


def test_a_preset_that_was_deleted_before_the_start_is_noticed(make_batch, priya, client_of):
    batch = make_batch(*topics(1), preset_name="Noir")
    page = client_of(priya).get(f"/batches/{batch.pk}/").content.decode()
    assert "The preset “<bdi>Noir</bdi>” was deleted." in page
    with pytest.raises(Refusal, match="was deleted"):
        start(priya, batch)


def test_all_rows_together_must_fit_budgets_and_the_second_person_rule(make_batch, priya):
    batch = make_batch(*topics(3))
    priya.team.second_person_above = Decimal(300)
    priya.team.save()
    with pytest.raises(Refusal, match="need a second person"):
        start(priya, batch)
    priya.team.second_person_above = None
    priya.team.save()
    Budget.objects.create(team=priya.team, period="month", hard=400)
    with pytest.raises(Refusal, match="may need 393 cr"):
        start(priya, batch)
    assert states(batch) == ["new"] * 3


def test_a_batch_that_started_cannot_be_changed(make_batch, priya):
    batch = start(priya, make_batch(*topics(1)))
    for change in (
        lambda: actions.change_row(by=priya, batch=batch, number=1, cells={0: "x"}),
        lambda: actions.change_batch(by=priya, batch=batch, name="x"),
        lambda: actions.remove_batch(by=priya, batch=batch),
    ):
        with pytest.raises(Refusal, match="has started"):
            change()


def test_what_has_begun_is_noted_while_it_is_paused(make_batch, priya):
    batch = advance(start(priya, make_batch(*topics(2), at_once=1)))
    actions.pause_by_person(by=priya, batch=batch)
    assert list(Batch.objects.in_progress()) == [batch]
    render_all(batch)
    assert states(batch) == ["done", "waiting"]
    assert not Batch.objects.in_progress().exists()
    assert len(charges_of(batch)) == 1


def test_its_member_is_notified_once_and_not_of_each_video(make_batch, priya):
    batch = start(priya, make_batch(*topics(3)))
    render_all(batch)
    for _ in range(2):
        notify_members(batch.team_id)
    (event,) = AlertEvent.objects.filter(team=batch.team)
    assert (event.title, event.text) == ("The batch “Lakes” has ended", "3 done, 0 failed.")


def test_the_same_file_twice_is_all_duplicates(make_batch, priya):
    render_all(start(priya, make_batch(*topics(2))))
    assert Batch.objects.get().state == "finished"
    again = dry_run(priya, make_batch(*topics(2)))
    assert [check.status for check in again.checks] == ["duplicate", "duplicate"]
