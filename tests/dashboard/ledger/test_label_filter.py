"""The ledger of the videos that have a label."""

from __future__ import annotations

import csv
import io

import pytest
from django.utils import timezone

from dashboard.ledger.queries.csv_export import CSV_HEADER, build_export_source, export_csv_chunk
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.models import Label
from tests.dashboard.ledger.conftest import days_ago, matched

pytestmark = pytest.mark.postgresql


@pytest.fixture
def school(add_entry, thea):
    """The label of two of three videos, one of them from before the last 30 days."""
    label = Label.objects.create(team=thea.team, name="School", created_by=thea.user)
    label.jobs.add(add_entry("-96").job, add_entry("-7", happened_at=days_ago(days=40)).job)
    add_entry("-30")
    add_entry("-12", by=None)
    return label


def filtered(reader, label, **query):
    return load_ledger_page(reader, parse_ledger_filters({"video_label": str(label.pk), **query}))


def listed(page) -> list[int]:
    return [int(row["entry"].amount) for day in page["entries"]["page"].days for row in day.rows]


def test_only_entries_of_its_videos_are_listed_and_summed(school, thea):
    page = filtered(thea, school)
    assert listed(page) == [-96]
    assert page["totals"]["figures"].spent == 96
    assert listed(filtered(thea, school, period="all")) == [-96, -7]
    assert listed(filtered(thea, school, q="glacier", period="all")) == [-96, -7]
    assert listed(filtered(thea, school, match="no")) == []


def test_the_filter_can_be_removed_and_is_offered_to_teams_with_labels(school, thea, client_of):
    browser = client_of(thea)
    html = browser.get(f"/ledger/?video_label={school.pk}").content.decode()
    assert 'aria-label="Label: clear filter"' in html
    assert 'id="chip-video_label"' in browser.get("/ledger/").content.decode()
    school.delete()
    assert 'id="chip-video_label"' not in browser.get("/ledger/").content.decode()


def test_a_label_of_another_team_selects_nothing(school, otto):
    assert listed(filtered(otto, school, period="all")) == []


def test_charges_of_other_videos_are_not_pending(school, thea, token):
    for job in (school.jobs.first(), None):
        charge = matched(token, "faceless.export")["charge"]
        charge.job = job or charge.job
        charge.sent_at = timezone.now()
        charge.save()
    assert len(load_ledger_page(thea, parse_ledger_filters({}))["entries"]["pending"].rows) == 2
    assert len(filtered(thea, school)["entries"]["pending"].rows) == 1


def test_the_file_has_the_same_entries(school, thea):
    filters = parse_ledger_filters({"video_label": str(school.pk)})
    text, _ = export_csv_chunk(build_export_source(thea.team, filters), None)
    rows = csv.DictReader(io.StringIO(text), fieldnames=CSV_HEADER)
    assert [row["credit_spend"] for row in rows] == ["-96"]
