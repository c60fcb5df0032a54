"""A cap caps: what was spent and what is held count against it, at its hour and nobody else's."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.models import AuditEvent, Budget, BudgetPeriod
from dashboard.shared.budget_usage import BudgetExceeded, load_budget_usages
from dashboard.shared.charging import charge_within_budget, lock_spending_rules
from proxyapi.models import Charge, ChargeState
from proxyapi.models.account import quantize_credits
from proxyapi.refusals import AlreadyInProgress, NotEnoughCredits
from tests.dashboard.budgets.conftest import NOON, make_intent

pytestmark = pytest.mark.postgresql

NOVEMBER = datetime(2026, 11, 3, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOON, tick=False)


def taken(team, budget):
    (standing,) = load_budget_usages(team, [budget], timezone.now())
    return standing.spent, standing.held


def test_a_charge_that_fits_is_held_and_written_down(priya, budget, video):
    budget(priya, 106)
    made = charge_within_budget(priya, make_intent(video(priya)))
    assert (made.state, made.hold) == (ChargeState.HELD, 106)
    event = AuditEvent.objects.get()
    assert (event.action, event.after["operation"]) == ("charge.create", "faceless.render")


def test_over_the_limit_nothing_is_sent_and_the_message_says_all(
    mira, thea, priya, budget, video, add_spending
):
    budget(priya, 2500)
    add_spending(priya, 2200)
    add_spending(priya, 239, state="held")
    with pytest.raises(BudgetExceeded) as refused:
        charge_within_budget(priya, make_intent(video(priya)))
    assert refused.value.sentence == (
        "Not sent. It needs 106 cr, and 61 of your 2,500 are left until 1 Dec. Request approval, "
        "or make it shorter. Thea or Mira can approve it."
    )
    assert Charge.objects.count() == 2
    assert not AuditEvent.objects.exists()


def test_the_teams_limit_binds_everybody(priya, luca, budget, video, add_spending):
    budget(None, 300, period=BudgetPeriod.WEEK)
    add_spending(luca, 250)
    with pytest.raises(BudgetExceeded, match="50 of the team’s 300 are left until Mon 23 Nov"):
        charge_within_budget(priya, make_intent(video(priya)))


def test_a_members_limit_binds_nobody_else(priya, luca, budget, video, add_spending):
    budget(luca, 100)
    add_spending(luca, 100)
    assert charge_within_budget(priya, make_intent(video(priya))).state == ChargeState.HELD


def test_the_most_constrained_of_several_budgets_is_named(priya, budget, video, add_spending):
    budget(priya, 2500)
    budget(priya, 120, period=BudgetPeriod.DAY)
    budget(None, 150, period=BudgetPeriod.DAY)
    add_spending(priya, 100)
    with pytest.raises(BudgetExceeded, match="20 of your 120 are left until midnight"):
        charge_within_budget(priya, make_intent(video(priya)))


def test_an_ended_budget_and_a_soft_one_refuse_nothing(priya, budget, video, add_spending):
    budget(priya, 10, active=False)
    budget(priya, None, soft=10, period=BudgetPeriod.DAY)
    assert charge_within_budget(priya, make_intent(video(priya))).state == ChargeState.HELD


@pytest.mark.parametrize(
    ("state", "fields", "expected"),
    [
        ("confirmed", {}, (90, 0)),
        ("matched", {}, (90, 0)),
        ("held", {}, (0, 90)),
        ("unknown", {}, (0, 90)),
        ("refused", {}, (0, 0)),
        ("draft", {}, (0, 0)),
        ("confirmed", {"refunded_at": NOON}, (0, 0)),
        ("confirmed", {"created_at": NOVEMBER - timedelta(days=3)}, (0, 0)),
        ("confirmed", {"created_at": NOVEMBER}, (90, 0)),
    ],
)
def test_what_counts(priya, budget, add_spending, state, fields, expected):
    add_spending(priya, 90, state=state, **fields)
    assert taken(priya.team, budget(priya, 100)) == expected


def test_the_period_is_of_the_teams_time_zone(priya, budget, add_spending):
    tenant = priya.team.tenant
    tenant.time_zone = "Pacific/Auckland"  # thirteen hours ahead: it is the 21st there
    tenant.save()
    add_spending(priya, 40, created_at=datetime(2026, 11, 20, 10, 59, tzinfo=UTC))
    add_spending(priya, 50, created_at=datetime(2026, 11, 20, 11, 1, tzinfo=UTC))
    assert taken(priya.team, budget(priya, 100, period=BudgetPeriod.DAY)) == (50, 0)


def test_pitfall_40_a_form_sent_twice_is_one_charge_though_the_budget_is_gone(priya, budget, video):
    budget(priya, 106)
    job, nonce = video(priya), uuid.uuid4()
    first = charge_within_budget(priya, make_intent(job, nonce=nonce))
    assert charge_within_budget(priya, make_intent(job, nonce=nonce)) == first
    with pytest.raises(AlreadyInProgress):
        charge_within_budget(priya, make_intent(video(priya), nonce=nonce))


def test_room_in_the_budget_is_not_room_on_the_account(priya, budget, video, account):
    account.balance = Decimal(50)
    account.save()
    budget(priya, 10_000)
    with pytest.raises(NotEnoughCredits):
        charge_within_budget(priya, make_intent(video(priya)))


def test_budgets_take_one_query_for_each_kind_of_period(
    priya, luca, budget, add_spending, django_assert_num_queries
):
    rows = [
        budget(member, 100, period=period)
        for member in (priya, luca, None)
        for period in BudgetPeriod
    ]
    add_spending(priya, 90)
    with django_assert_num_queries(3):
        found = load_budget_usages(priya.team, rows, NOON)
    assert [one.spent for one in found] == [90] * 3 + [0] * 3 + [90] * 3


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("budget_has_a_limit", {"hard": None}),
        ("budget_hard_not_negative", {"hard": -1}),
        ("budget_soft_positive", {"hard": 10, "soft": 0}),
        ("budget_hard_not_below_soft", {"hard": 10, "soft": 11}),
        ("budget_period_known", {"hard": 10, "period": "year"}),
    ],
)
def test_what_must_hold_of_a_budget_holds_in_the_database(priya, budget, name, fields):
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        budget(priya, **fields)
    assert budget(priya, 10, soft=10)


@pytest.mark.parametrize("whose", ["priya", None])
def test_one_budget_for_each_member_and_period(request, budget, northlight, whose):
    member = request.getfixturevalue(whose) if whose else None
    budget(member, 10)
    with pytest.raises(IntegrityError), transaction.atomic():
        budget(member, 20)
    assert budget(member, 20, period=BudgetPeriod.DAY)
    assert Budget.objects.count() == 2


@pytest.mark.parametrize("count", [1, 4])
def test_members_and_team_are_summed_alike_however_many_they_are(
    count, priya, luca, jonas, mira, budget, add_spending
):
    """One row for a few, a row for each of many: the same sums."""
    people = (priya, luca, jonas, mira)
    for number, member in enumerate(people, 1):
        add_spending(member, 10 * number)
        add_spending(member, number, state="unknown")
        add_spending(member, 700, refunded_at=NOON)
    rows = [budget(member, 1000) for member in (*people[:count], None)]
    found = [(one.spent, one.held) for one in load_budget_usages(priya.team, rows, NOON)]
    assert found == [(10 * n, n) for n in range(1, count + 1)] + [(100, 10)]


@pytest.mark.parametrize("whose", ["priya", None])
def test_fractions_of_a_credit_fill_a_limit_exactly_and_not_beyond(
    whose, request, priya, budget, video, add_spending
):
    for cost in ("0.1", "0.2", "0.1"):
        add_spending(priya, Decimal(cost))
    budget(request.getfixturevalue(whose) if whose else None, Decimal("96.4"))
    assert charge_within_budget(priya, make_intent(video(priya), 96)).state == ChargeState.HELD
    with pytest.raises(BudgetExceeded):
        charge_within_budget(priya, make_intent(video(priya), Decimal("0.0001")))


def test_a_sum_that_sqlite_added_up_as_floats_is_right_again():
    """As 50,000 charges came out; a cap would refuse what just fits."""
    assert quantize_credits(Decimal("5088675.55999997")) == Decimal("5088675.56")


def test_a_budget_is_summed_from_the_index_alone(priya, budget, add_spending):
    a_year_of(add_spending(priya, 90))
    with CaptureQueriesContext(connection) as queries:
        load_budget_usages(priya.team, [budget(priya, 100), budget(None, 100)], NOON)
    asked = next(one["sql"] for one in queries if "SUM(" in one["sql"])
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            leave_one_way_to_read(cursor)
        cursor.execute(f"EXPLAIN {'QUERY PLAN' if connection.vendor == 'sqlite' else ''} {asked}")
        plan = str(cursor.fetchall())
    assert "charge_counts" in plan
    assert "COVERING INDEX" in plan or "Index Only Scan" in plan


def leave_one_way_to_read(cursor):
    """With so few rows PostgreSQL's choice is chance; whether the index alone can answer is not."""
    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no index goes while a check is still to come
    cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
    found = connection.introspection.get_constraints(cursor, Charge._meta.db_table)
    for name, one in found.items():
        if one["index"] and not one["unique"] and name != "charge_counts":
            cursor.execute(f'DROP INDEX "{name}"')


def a_year_of(charge):
    """As many of it as let a database choose: five a day, most of them not of this month."""
    fields = Charge.objects.values().get(pk=charge.pk)
    days = [NOON - timedelta(days=day) for day in range(365)] * 5
    Charge.objects.bulk_create(
        Charge(**{**fields, "id": uuid.uuid4(), "nonce": uuid.uuid4(), "created_at": day})
        for day in days
    )


def test_who_waited_for_the_lock_over_midnight_is_counted_with_the_new_day(
    priya, budget, monkeypatch
):
    budget(priya, 100, period=BudgetPeriod.DAY)
    when, before = timezone.now, []

    def now():
        before.append(len(asked))
        return when()

    with CaptureQueriesContext(connection) as asked:
        monkeypatch.setattr(timezone, "now", now)
        lock_spending_rules(priya)
    # The first is that of the team's row, the second whether the member's charges are paused.
    assert 'FROM "dashboard_budget"' in asked.captured_queries[2]["sql"]
    assert before
    assert all(before)
