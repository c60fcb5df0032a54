"""The reconciliation page: what every member sees, and who may decide."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.models import AuditEvent
from proxyapi.models import Account, Job, LedgerConflict
from tests.factories import AccountFactory, TokenFactory

URL = "/reconciliation/"


def page(client_of, reader, query=""):
    answer = client_of(reader).get(f"{URL}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def inconsistent_ledger(
    add_entry, make_charge, unknown_charge, set_checkpoint, ledger, account, token
):
    """A ledger with every kind of difference at once."""
    make_charge(14, settled_at=timezone.now() - timedelta(hours=1))
    make_charge(98, refund_owed_at=timezone.now() - timedelta(days=2))
    add_entry(-90, charge=make_charge(96), confidence="weak")
    add_entry(-1, trouble="Its amount cannot be read, so it counts as 0.", credit_spend="much")
    set_checkpoint(500, opening=700)
    add_entry(-30)
    LedgerConflict.objects.create(
        account=account,
        position=1,
        before={"label": "Render", "credit_spend": "-1", "created_at": "2024-11-20T14:21:00Z"},
        after={"label": "Render", "credit_spend": "-2", "created_at": "2024-11-20T14:21:00Z"},
    )
    ledger.refresh_from_db()
    ledger.problem = "Row 1 of the service's ledger reads differently now."
    ledger.api_problem = "The view of what came through the API got shorter."
    ledger.save()


def test_the_ledger_reconciles(client_of, vera, add_entry, make_charge, set_checkpoint):
    add_entry(-96, charge=make_charge(96))
    set_checkpoint(604, opening=700)
    shown = page(client_of, vera)
    assert (
        "Ledger and balance match: 1 ledger entry adds up to −96. With the 700 cr from before the "
        "first entry that is 604, the balance" in shown
    )
    assert "No differences." in shown
    assert "<dt>Credits with unknown outcome</dt>" in shown


def test_more_entries_than_balance_at_the_first_comparison_are_a_finding(
    client_of, vera, add_entry, set_checkpoint
):
    """600 came in, the service shows 480, and nothing was spent."""
    add_entry(600)
    set_checkpoint(480, opening=-120)
    shown = page(client_of, vera)
    assert "Ledger and balance match" not in shown
    assert "The ledger adds up to 600, the service shows 480. 120 cr are missing" in shown
    assert "120 cr of the entries are not in the balance" in shown


@pytest.mark.parametrize(
    ("left", "content_type", "is_explained"),
    [
        (941, "Release of monthly credits", True),
        (941, "Purchased Credit", False),
        (940, "Subscription renewed", False),  # more is missing than was left
    ],
)
@pytest.mark.postgresql
def test_what_a_renewal_let_expire_is_explained_and_can_be_accepted(
    left, content_type, is_explained, client_of, thea, add_entry, set_checkpoint
):
    add_entry(1000, content_type=content_type, label="")
    set_checkpoint(left + 1000 - 941, opening=left)
    shown = page(client_of, thea)
    assert ("941 cr probably expired when the plan renewed" in shown) == is_explained
    assert ("941 cr are missing without an entry" in shown) != is_explained
    assert "Reset opening balance" in shown


def test_a_verdict_older_than_an_entry_or_the_balance_is_not_green(
    client_of, vera, add_entry, set_checkpoint, account
):
    set_checkpoint(604, opening=604)
    assert "Ledger and balance match" in page(client_of, vera)
    Account.objects.update(balance=500, balance_as_of=timezone.now() + timedelta(seconds=1))
    shown = page(client_of, vera)
    assert "The service showed 500 cr at" in shown
    add_entry(-96)
    both = page(client_of, vera)
    assert "1 ledger entry is newer than the last comparison" in both
    assert "Ledger and balance match" not in shown + both


def test_each_difference_says_what_to_do(client_of, vera, inconsistent_ledger):
    shown = page(client_of, vera)
    for words in (
        "The ledger is not being updated",
        "are missing without an entry",
        "has no entry",
        "cost differs from the ledger",
        "cannot be read",
        "The response was lost",
        "Refunds owed",
        "2 days",
        "−1 Render, 20 Nov 2024 14:21",
        "−2 Render, 20 Nov 2024 14:21",
    ):
        assert words in shown, words


def test_the_newest_debits_outside_the_portal_are_listed(
    client_of, vera, add_entry, make_charge, set_checkpoint, account
):
    add_entry(-96, charge=make_charge(96), label="Render")
    for number in range(9):
        add_entry(-1 - number, label=f"Script {number}", via_api=number == 8)
    add_entry(600, label="Monthly plan")
    set_checkpoint(604, opening=700)
    shown = page(client_of, vera)
    outside = shown.partition('id="outside"')[2].partition("</section>")[0]
    listed = re.findall(r"Script \d", outside)
    assert listed == [f"Script {number}" for number in range(8, 0, -1)]
    sources = re.findall(r">\s*(API|Not through the API)\s*<", outside)
    assert (sources.count("API"), sources.count("Not through the API")) == (1, 7)
    assert "Render" not in outside and "Monthly plan" not in outside
    url = html.unescape(re.findall(r'href="(/ledger/\?[^"]*)"', outside)[0])
    assert url == f"/ledger/?account={account.pk}&period=all&direction=out&match=no"


def test_without_a_debit_outside_the_portal_none_is_listed(
    client_of, vera, add_entry, make_charge, set_checkpoint
):
    add_entry(-96, charge=make_charge(96))
    set_checkpoint(604, opening=700)
    assert 'id="outside"' not in page(client_of, vera)


def test_what_the_service_owes_is_the_sum_of_all_of_it(
    client_of, vera, make_charge, set_checkpoint
):
    """A batch of clips that failed as a whole; 180 of them were added up."""
    for _ in range(190):
        make_charge(2, refund_owed_at=timezone.now() - timedelta(days=2))
    set_checkpoint(604, opening=700)
    shown = page(client_of, vera)
    assert "380 cr" in shown
    assert "190 charges" in shown


def test_hidden_videos_are_named_and_not_linked(client_of, thea, inconsistent_ledger):
    assert "/videos/" in page(client_of, thea)
    Job.objects.update(hidden_at=timezone.now(), title="Nobody looks at it")
    html = page(client_of, thea)
    assert "Nobody looks at it" in html
    assert "/videos/" not in html


def test_the_whole_page_takes_twelve_queries_and_three_for_differences_and_outside_debits(
    client_of, thea, inconsistent_ledger, django_assert_max_num_queries
):
    browser = client_of(thea)
    browser.get(URL)
    with django_assert_max_num_queries(17):
        browser.get(URL)


@pytest.mark.parametrize("name", ["mira", "thea"])
def test_who_manages_money_finds_the_acts(
    name, request, client_of, inconsistent_ledger, unknown_charge
):
    shown = page(client_of, request.getfixturevalue(name))
    assert f"/reconciliation/charges/{unknown_charge.pk}/write-offs/" in shown
    assert f"/reconciliation/charges/{unknown_charge.pk}/matches/" in shown
    assert "Accept version" in shown
    assert "Reset opening balance" in shown


@pytest.mark.parametrize("name", ["jonas", "priya", "vera"])
def test_everybody_else_reads_who_decides(
    name, request, client_of, inconsistent_ledger, unknown_charge
):
    shown = page(client_of, request.getfixturevalue(name))
    assert "A treasurer or owner decides." in shown
    assert "write-offs" not in shown
    assert "acceptances" not in shown


def test_nobody_decides_while_the_ledger_still_may(client_of, thea, ledger, make_charge, luca):
    charge = make_charge(
        state="unknown", member=luca, sent_at=timezone.now() - timedelta(minutes=1)
    )
    shown = page(client_of, thea)
    assert "The ledger shows whether it was charged, at the latest by" in shown
    assert f"{charge.pk}/write-offs" not in shown


def test_the_progress_of_the_mirror_is_shown(client_of, vera, ledger, token):
    ledger.low, ledger.high, ledger.total, ledger.read_at = 5_800, 10_000, 10_000, timezone.now()
    ledger.save()
    assert "4,200 of 10,000 rows are read." in page(client_of, vera)


def test_of_several_accounts_one_is_shown(client_of, vera, northlight, account, token, priya):
    other = AccountFactory.create(tenant=northlight.tenant, name="Northlight Shorts")
    TokenFactory.create(account=other, owner=priya.user)
    assert "Northlight Shorts" in page(client_of, vera, f"?account={other.pk}")


def test_the_account_of_another_team_does_not_exist(client_of, otto, account, token):
    answer = client_of(otto).get(f"{URL}?account={account.pk}")
    assert answer.status_code == 404


def test_a_team_without_an_account_sees_that_it_has_none(client_of, otto):
    assert "No account yet" in page(client_of, otto)


def test_the_part_that_changes_holds_no_shell(client_of, vera, inconsistent_ledger):
    shown = page(client_of, vera, "?part=body")
    assert 'id="books"' in shown
    assert "<html" not in shown


def test_an_amount_of_a_fraction_stays_whole(client_of, vera, token, add_entry, set_checkpoint):
    add_entry(Decimal("-12.5"))
    set_checkpoint(687, opening=700)
    shown = page(client_of, vera)
    assert "0.5 cr are missing without an entry" in shown


@pytest.mark.parametrize(("name", "acts"), [("thea", 3), ("priya", 1), ("vera", 0)])
def test_a_lost_charge_is_searched_again_by_whoever_may(
    name, acts, request, client_of, unknown_charge, ledger
):
    client = client_of(request.getfixturevalue(name))
    page = client.get("/reconciliation/").content.decode()
    assert page.count(f"/reconciliation/charges/{unknown_charge.pk}/") == acts + max(acts - 1, 0)
    answer = client.post(f"/reconciliation/charges/{unknown_charge.pk}/checks/", follow=bool(acts))
    assert answer.status_code == (200 if acts else 403)
    assert ("being checked. Nothing is sent again." in answer.content.decode()) is bool(acts)
    assert AuditEvent.objects.filter(action="charge.recheck").count() == bool(acts)


def test_a_row_has_one_number_on_every_page(client_of, thea, add_entry, account):
    """The first row of the ledger is row 1 to readers, in each list, question and entry."""
    add_entry(-5)
    odd = add_entry(-7, trouble="odd")
    rewrite = LedgerConflict.objects.create(
        account=account,
        position=odd.position,
        before={"label": "Render", "credit_spend": "-1", "created_at": "2024-11-20T14:21:00Z"},
        after={"label": "Render", "credit_spend": "-2", "created_at": "2024-11-20T14:21:00Z"},
    )
    assert odd.number == rewrite.number == odd.position + 1
    number = odd.number
    books = page(client_of, thea)
    assert f"Row {number} of the ledger cannot be read" in books
    assert f'class="num-time">{number}</td>' in books
    question = f"/reconciliation/conflicts/{rewrite.pk}/acceptances/"
    assert f"version of row {number}?" in client_of(thea).get(question).content.decode()
