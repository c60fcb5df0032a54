"""Debits under the title of an imported job are explained by it, if nothing else can be meant."""

from __future__ import annotations

from datetime import timedelta

import pytest

from proxyapi import ledger
from proxyapi.ledger.audit import audit_account
from proxyapi.models import DailyTotal, JobOrigin, LedgerEntry, MatchConfidence
from tests.factories import JobFactory, TokenFactory, create_account_of_another_team
from tests.proxyapi.ledger.conftest import LEDGER_START, ledger_row

TITLE = "How the tides of the northern sea are made"


@pytest.fixture
def tides(account):
    return add_job(account)


def add_job(account, title=TITLE, origin=JobOrigin.IMPORT):
    token = account.tokens.first() or TokenFactory.create(account=account)
    return JobFactory.create(account=account, token=token, title=title, origin=origin, draft=None)


def explained(account):
    ledger.mirror_entries(account)
    return [entry.position for entry in LedgerEntry.objects.exclude(job=None).order_by("position")]


def outside_count(account):
    accounts = type(account).objects.filter(pk=account.pk)
    type(account).objects.update(created_at=LEDGER_START)
    return LedgerEntry.objects.outside_spend(accounts, LEDGER_START).count()


@pytest.mark.parametrize("label", [TITLE, TITLE[:40] + "...", TITLE[:30] + "…"])
def test_a_debit_of_its_title_is_explained(label, account, scripted_ledger, tides):
    scripted_ledger.add_row(ledger_row(-96, label=label), ledger_row(-5))
    assert explained(account) == [0]
    entry = LedgerEntry.objects.get(position=0)
    assert (entry.job_id, entry.member_id, entry.charge_id) == (tides.pk, tides.member_id, None)
    assert entry.confidence == MatchConfidence.LIKELY
    assert outside_count(account) == 1


def test_the_sums_count_it_once_and_not_as_outside(account, scripted_ledger, tides):
    scripted_ledger.add_row(ledger_row(-96, label=TITLE), ledger_row(-5))
    ledger.mirror_entries(account)
    sums = {row.is_matched: row.amount for row in DailyTotal.objects.all()}
    assert sums == {True: -96, False: -5}
    audit = audit_account(account)
    assert ("debits of imported videos", -96) in audit.lines
    assert not [problem for problem in audit.problems if "add up" in problem or "match" in problem]


@pytest.mark.parametrize("label", [TITLE[:10] + "...", TITLE + "!", "Script generation", ""])
def test_another_label_stays_outside(label, account, scripted_ledger, tides):
    scripted_ledger.add_row(ledger_row(-96, label=label))
    assert explained(account) == []


@pytest.mark.parametrize("origin", [JobOrigin.IMPORT, JobOrigin.PORTAL])
def test_a_title_that_two_jobs_have_explains_nothing(origin, account, scripted_ledger, tides):
    add_job(account, origin=origin)
    scripted_ledger.add_row(ledger_row(-96, label=TITLE))
    assert explained(account) == []


def test_a_title_that_a_job_of_another_team_has_explains_nothing(account, scripted_ledger, tides):
    add_job(create_account_of_another_team(account), origin=JobOrigin.PORTAL)
    scripted_ledger.add_row(ledger_row(-96, label=TITLE))
    assert explained(account) == []


def test_a_shortened_label_that_two_titles_begin_with_explains_nothing(
    account, scripted_ledger, tides
):
    add_job(account, title=TITLE + ", again")
    scripted_ledger.add_row(ledger_row(-96, label=TITLE[:40] + "..."))
    assert explained(account) == []


def test_a_label_of_every_night_explains_nothing(account, scripted_ledger, tides):
    nights = [ledger_row(-96, minute=24 * 60 * night, label=TITLE) for night in range(3)]
    scripted_ledger.add_row(*nights)
    assert explained(account) == []


def test_a_job_of_the_portal_is_explained_by_its_charges_alone(account, scripted_ledger):
    add_job(account, origin=JobOrigin.PORTAL)
    scripted_ledger.add_row(ledger_row(-96, label=TITLE))
    assert explained(account) == []


def test_credits_are_never_those_of_an_imported_job(account, scripted_ledger, tides):
    scripted_ledger.add_row(ledger_row(96, label=TITLE))
    assert explained(account) == []


def test_a_charge_that_matches_comes_first(account, scripted_ledger, tides, make_confirmed_charge):
    charge = make_confirmed_charge(96)
    scripted_ledger.add_row(ledger_row(-96, label=TITLE))
    ledger.mirror_entries(account)
    entry = LedgerEntry.objects.get()
    assert (entry.charge_id, entry.job_id) == (charge.pk, charge.job_id)


def test_a_charge_that_matches_later_replaces_the_job(
    account, scripted_ledger, tides, make_confirmed_charge
):
    scripted_ledger.add_row(ledger_row(-96, label=TITLE))
    assert explained(account) == [0]
    charge = make_confirmed_charge(96)
    ledger.match_entries(account)
    entry = LedgerEntry.objects.get()
    assert (entry.charge_id, entry.job_id) == (charge.pk, charge.job_id)
    assert DailyTotal.objects.get().amount == -96


def test_an_import_of_long_ago_explains_no_new_debit(account, scripted_ledger, tides):
    tides.created_at -= timedelta(days=8)
    tides.save()
    scripted_ledger.add_row(ledger_row(-96, label=TITLE))
    assert explained(account) == []
