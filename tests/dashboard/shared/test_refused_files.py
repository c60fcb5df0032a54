"""A file never holds other rows than were asked for; without a file it is told why."""

from __future__ import annotations

import pytest

from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.views import export_filename
from dashboard.models import AuditEvent


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("/ledger/export/?period=2026-13", "“2026-13” is not a valid value of “period”."),
        ("/ledger/export/?period=9999", "“9999” is not a valid value of “period”."),
        ("/ledger/export/?from=2026-11-18&to=2026-11-03", "The last day, 3 Nov 2026, is before"),
        ("/ledger/export/?from=yesterday", "“yesterday” is not a valid date."),
        ("/ledger/export/?account=1", "“1” is not a valid value of “account”."),
        ("/ledger/export/?direction=up", "“up” is not a valid value of “direction”."),
        ("/audit/export/?period=2026-11", "“2026-11” is not a valid value of “period”."),
        ("/audit/export/?who=me", "“me” is not a valid value of “who”."),
        ("/audit/export/?format=xml", "A file is made as csv or jsonl."),
    ],
)
def test_a_filter_that_cannot_be_read_makes_no_file(url, sentence, mira, client_of) -> None:
    answer = client_of(mira).get(url)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert sentence in page
    assert "No file was made" in page
    assert not AuditEvent.objects.filter(action__endswith=".export").exists()


def test_the_days_of_a_range_are_named_in_their_order() -> None:
    filters = parse_ledger_filters({"period": "2026-11-18..2026-11-03"})
    assert export_filename(filters) == "ledger-2026-11-03-to-2026-11-18.csv"


def test_the_file_of_the_audit_log_names_its_days(mira, client_of) -> None:
    for query, days in (("", "30-days"), ("?period=7", "7-days"), ("?period=all", "all")):
        answer = client_of(mira).head(f"/audit/export/{query}")
        assert f'filename="audit-{days}-to-20' in answer["Content-Disposition"]
