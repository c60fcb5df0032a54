"""The ledger page: filter chips, totals, the spend chart, and one page of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from django.urls import reverse

from dashboard.ledger.queries.filters import STACK_OPTIONS, LedgerFilters
from dashboard.ledger.queries.pending import load_pending_charges
from dashboard.ledger.queries.period import ALL_TIME, build_period_options, date_range_of_period
from dashboard.ledger.queries.rows import LedgerRowsPage, build_ledger_rows_page
from dashboard.ledger.queries.scope import LedgerScope, build_ledger_scope, load_ledger_scope
from dashboard.ledger.queries.search import apply_ledger_search, load_period_names
from dashboard.ledger.queries.spend_chart import build_spend_chart, build_spend_split
from dashboard.ledger.queries.totals import LedgerTotals, load_ledger_totals
from dashboard.models import Membership
from dashboard.shared.account_tabs import account_labels
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.filter_chips import build_chips, build_hidden_params
from dashboard.shared.lists import ListPage
from dashboard.shared.people import TeamPerson, load_label_names, load_team_people
from proxyapi.models import Account, LedgerMirror

MAX_CONTENT_TYPE_OPTIONS = 200  # options of a select
RECOUNTING_TEXT = (
    "We are recalculating daily totals for {}. Some totals still use the previous time zone. "
    "This finishes automatically."
)
SHARED_ACCOUNT_TEXT = (
    "Its spending is marked in the list below. Totals count it as outside the portal."
)


def load_ledger_page(
    reader: Membership, filters: LedgerFilters, accounts: Sequence[Account] | None = None
) -> dict[str, Any]:
    """At most six queries; one more unless `accounts` (from `load_ledger_accounts`) is given."""
    team = reader.team
    scope = (
        load_ledger_scope(team, filters)
        if accounts is None
        else build_ledger_scope(team, filters, accounts)
    )
    people, labels = load_team_people(reader.team), load_label_names(reader.team)
    scope = apply_ledger_search(scope, people)
    totals = load_ledger_totals(scope, () if filters.search else build_spend_split(scope, people))
    entries = build_entries_section(scope, totals)
    options = {**chip_options(scope, people), "video_label": labels or None}
    if filters.job:  # a link selects the video, out of up to a hundred thousand
        options["job"] = {str(filters.job): video_title(entries["page"])}
    page: ListPage = entries["list"]
    page.chips = tuple(build_chips(filters, **options))
    return {
        "list": page,
        "dates": build_date_fields("ledger", filters, scope),
        "totals": build_totals_section(scope, totals, people),
        "entries": entries,
        "export_url": filters.url("ledger-export"),
        "charts_url": filters.url("ledger-charts", sort=""),
    }


def load_totals_section(reader: Membership, filters: LedgerFilters) -> dict[str, Any]:
    scope, people = load_ledger_scope(reader.team, filters), load_team_people(reader.team)
    scope = apply_ledger_search(scope, people)
    totals = load_ledger_totals(scope, () if filters.search else build_spend_split(scope, people))
    return build_totals_section(scope, totals, people)


def load_entries_section(
    reader: Membership, filters: LedgerFilters, known_key: int | None
) -> dict[str, Any]:
    """`known_key` is the key of the newest row that the reader has; later rows are marked as
    new."""
    scope = load_ledger_scope(reader.team, filters)
    if filters.search:
        scope = apply_ledger_search(scope, load_team_people(reader.team))
    return build_entries_section(scope, load_ledger_totals(scope), known_key)


def build_totals_section(
    scope: LedgerScope, totals: LedgerTotals, people: Sequence[TeamPerson]
) -> dict[str, Any]:
    """The totals of the filtered rows. `chart` is None for the rows of one job, of a label or of a
    search; `stacks` are the ways to split it."""
    filters = scope.filters
    has_chart = not (filters.selects_videos or filters.search)
    return {
        "figures": totals.total,
        "credit_price": scope.credit_price,
        "chart": build_spend_chart(scope, totals, people) if has_chart else None,
        "banners": build_ledger_notices(scope),
        "stacks": [
            (label, filters.url(by=value), value == filters.by)
            for value, label in STACK_OPTIONS.items()
        ],
        "url": filters.fragment_url("totals"),
        "period_label": scope.period.label,
    }


def build_entries_section(
    scope: LedgerScope, totals: LedgerTotals, known_key: int | None = None
) -> dict[str, Any]:
    """`pending` charges have no ledger row yet. `is_empty`: these accounts and days have no row at
    all; `no_account`: the team has no account yet."""
    filters, page = scope.filters, build_ledger_rows_page(scope, totals, known_key)
    count = totals.total.rows
    return {
        "list": ListPage(filters, page.days, count, page.next_url, page.first_url),
        "page": page,
        "pending": load_pending_charges(scope),
        "period": scope.period.label_in_sentence,
        "url": filters.fragment_url("entries", known=page.newest_key),
        "sort_url": filters.url(sort="" if filters.oldest_first else "oldest"),
        "sorted": "ascending" if filters.oldest_first else "descending",
        "whole_url": "" if filters.period == ALL_TIME else LedgerFilters(period=ALL_TIME).url(),
        "is_empty": not filters.is_narrowed and not count,
        "no_account": not scope.accounts,
    }


def period_options(scope: LedgerScope) -> dict[str, Any]:
    """The periods, and the accounts if there are several."""
    accounts = {str(pk): label for pk, label in account_labels(scope.accounts).items()}
    return {
        "period": build_period_options(scope.filters.period, scope.today),
        "account": accounts if len(accounts) > 1 else None,
    }


def chip_options(scope: LedgerScope, people: Sequence[TeamPerson]) -> dict[str, Any]:
    """One query: the features and content types of these days, whatever the other filters are."""
    names = scope.found.names if scope.found else load_period_names(scope)
    features = {operation: feature_label(operation) for operation in names.operations}
    types = {name: name for name in sorted(names.content_types)[:MAX_CONTENT_TYPE_OPTIONS]}
    return {
        **period_options(scope),
        "member": {str(person.id): person.name for person in people},
        "feature": include_chosen_option(scope.filters.feature, features),
        "content_type": include_chosen_option(scope.filters.content_type, types),
    }


def include_chosen_option(value: str, options: dict[str, str]) -> dict[str, str]:
    """The options sorted by name, with the chosen value even if these days lack it, so that it can
    be removed."""
    if value and value not in options:
        options[value] = feature_label(value) if "." in value else value
    return dict(sorted(options.items(), key=itemgetter(1)))


def video_title(page: LedgerRowsPage) -> str:
    """The rows of a video have its title."""
    jobs = (row["entry"].job for day in page.days for row in day.rows)
    return next((job.title for job in jobs if job), "no entries here")


def build_date_fields(page: str, filters: LedgerFilters, scope: LedgerScope) -> dict[str, Any]:
    """`filters` are those requested on that page; no query. `problem` says what is wrong with the
    typed days and what is shown instead, `problem_field` in which field."""
    typed = filters.dates
    days = typed if typed.problem else date_range_of_period(filters.period)
    problem = f"{typed.problem} Showing {scope.period.label_in_sentence}."
    return {
        "url": reverse(page),
        "first": days.first,
        "last": days.last,
        "problem": problem if typed.problem else "",
        "problem_field": typed.problem_field,
        "zone": scope.zone.key.replace("_", " "),
        "hidden_params": build_hidden_params(filters, "period"),
    }


@dataclass(frozen=True, slots=True)
class LedgerNotice:
    state: str
    title: str
    text: str


def build_ledger_notices(scope: LedgerScope) -> tuple[LedgerNotice, ...]:
    """Notices about the selected accounts and about a search; no query."""
    accounts = [account for account in scope.accounts if account.pk in scope.ids]
    labels = account_labels(scope.accounts)
    notices = [
        notice
        for account in accounts
        for notice in iter_account_notices(account, labels[account.pk])
    ]
    if scope.first_day and scope.is_recounting:
        notices.append(
            LedgerNotice(
                "info",
                "Daily totals are being recalculated.",
                RECOUNTING_TEXT.format(scope.zone.key),
            )
        )
    gaps = scope.found.gaps if scope.found else ()
    return (*notices, *(LedgerNotice("info", gap.text, gap.remedy) for gap in gaps))


def iter_account_notices(account: Account, name: str) -> Iterator[LedgerNotice]:
    ledger = getattr(account, "ledger", None)
    if ledger is None or (ledger.high == 0 and ledger.read_at is None):
        text = "Its entries appear here automatically, newest first."
        yield LedgerNotice("waiting", f"The ledger of {name} has not been read yet.", text)
        return
    if ledger.problem:
        yield LedgerNotice("late", f"The ledger of {name} is not being updated.", ledger.problem)
    if getattr(account, "is_shared", False):
        yield LedgerNotice(
            "info", f"Another team of this portal also uses {name}.", SHARED_ACCOUNT_TEXT
        )
    if not ledger.is_complete:
        yield LedgerNotice(
            "info", f"The ledger of {name} is still being read.", mirror_progress_text(ledger)
        )


def mirror_progress_text(ledger: LedgerMirror) -> str:
    loaded, total = ledger.high - ledger.low, max(ledger.total, ledger.high)
    loaded_text = (
        f"{loaded:,} of {total:,} entries are loaded." if ledger.total else f"{loaded:,} are here."
    )
    return (
        f"{loaded_text} Older entries follow automatically; until then their daily totals are "
        "incomplete."
    )
