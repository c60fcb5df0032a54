"""The ledger page: filter chips, totals, the spend chart, and one page of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from django.urls import reverse

from dashboard.ledger.queries.filters import (
    DIRECTION_OPTIONS,
    MATCH_OPTIONS,
    SORT_OPTIONS,
    SOURCE_OPTIONS,
    STACK_OPTIONS,
    LedgerFilters,
)
from dashboard.ledger.queries.pending import PendingCharges, load_pending_charges
from dashboard.ledger.queries.period import ALL_TIME, build_period_options, date_range_of_period
from dashboard.ledger.queries.rows import LedgerRowsPage, build_ledger_rows_page
from dashboard.ledger.queries.scope import LedgerScope, build_ledger_scope, load_ledger_scope
from dashboard.ledger.queries.search import apply_ledger_search, load_period_names
from dashboard.ledger.queries.spend_chart import build_spend_chart, build_spend_split
from dashboard.ledger.queries.totals import CreditTotals, LedgerTotals, load_ledger_totals
from dashboard.models import Membership
from dashboard.shared.account_tabs import account_labels
from dashboard.shared.charts import BarChart
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.filter_chips import (
    FilterChip,
    FilterSheet,
    build_filter_chip,
    build_filter_sheet,
    build_hidden_params,
)
from dashboard.shared.people import TeamPerson, load_people_and_labels, load_team_people
from proxyapi.models import Account, LedgerMirror
from proxyapi.models.credit_price import CreditPrice

MAX_CONTENT_TYPE_OPTIONS = 200  # options of a select
RECOUNTING_TEXT = (
    "We are recalculating daily totals for {}. Some totals still use the previous time zone. "
    "This finishes automatically."
)
SHARED_ACCOUNT_TEXT = (
    "Its spending is marked in the list below. Totals count it as outside the portal."
)


@dataclass(frozen=True, slots=True)
class StackOption:
    """A way to split the chart, as a link."""

    label: str
    url: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class LedgerTotalsSection:
    """The totals of the filtered rows. `chart` is None for the rows of one job, of a
    label or of a search."""

    figures: CreditTotals
    credit_price: CreditPrice | None
    chart: BarChart | None
    banners: tuple[LedgerNotice, ...]
    stacks: tuple[StackOption, ...]
    url: str
    period_label: str


@dataclass(frozen=True, slots=True)
class LedgerEntriesSection:
    """`pending` charges have no ledger row yet. `is_empty`: these accounts and days have no row at
    all; `no_account`: the team has no account yet."""

    page: LedgerRowsPage
    pending: PendingCharges
    rows: int
    period: str
    url: str
    sort_url: str
    sorted: str
    clear_url: str
    whole_url: str
    is_empty: bool
    no_account: bool


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """`hidden_params` are the form's other parameters; `sheet` holds all filters on a phone."""

    filters: LedgerFilters
    chips: tuple[FilterChip, ...]
    job: FilterChip | None
    hidden_params: tuple[tuple[str, str], ...]
    sheet: FilterSheet
    dates: DateFields
    totals: LedgerTotalsSection
    entries: LedgerEntriesSection
    export_url: str
    charts_url: str


def build_ledger_page(
    reader: Membership, filters: LedgerFilters, accounts: Sequence[Account] | None = None
) -> LedgerPage:
    """At most six queries; one more unless `accounts` (from `load_ledger_accounts`) is given."""
    team = reader.team
    scope = (
        load_ledger_scope(team, filters)
        if accounts is None
        else build_ledger_scope(team, filters, accounts)
    )
    people, labels = load_people_and_labels(reader)
    scope = apply_ledger_search(scope, people)
    totals = load_ledger_totals(scope, () if filters.search else build_spend_split(scope, people))
    entries = build_entries_section(scope, totals)
    chips = tuple(build_ledger_chips(scope, people, labels))
    return LedgerPage(
        filters=filters,
        chips=chips,
        hidden_params=build_hidden_params(filters, "q", *(chip.name for chip in chips)),
        sheet=build_filter_sheet(
            LedgerFilters().url(),
            [*chips, build_filter_chip("sort", "", SORT_OPTIONS, filters)],
            filters,
        ),
        dates=build_date_fields("ledger", filters, scope),
        job=build_video_chip(filters, entries.page) if filters.job else None,
        totals=build_totals_section(scope, totals, people),
        entries=entries,
        export_url=filters.url("ledger-export"),
        charts_url=filters.url("ledger-charts", sort=""),
    )


def load_totals_section(reader: Membership, filters: LedgerFilters) -> LedgerTotalsSection:
    scope, people = load_ledger_scope(reader.team, filters), load_team_people(reader.team)
    scope = apply_ledger_search(scope, people)
    totals = load_ledger_totals(scope, () if filters.search else build_spend_split(scope, people))
    return build_totals_section(scope, totals, people)


def load_entries_section(
    reader: Membership, filters: LedgerFilters, known_key: int | None
) -> LedgerEntriesSection:
    """`known_key` is the key of the newest row that the reader has; later rows are marked as
    new."""
    scope = load_ledger_scope(reader.team, filters)
    if filters.search:
        scope = apply_ledger_search(scope, load_team_people(reader.team))
    return build_entries_section(scope, load_ledger_totals(scope), known_key)


def build_totals_section(
    scope: LedgerScope, totals: LedgerTotals, people: Sequence[TeamPerson]
) -> LedgerTotalsSection:
    filters = scope.filters
    return LedgerTotalsSection(
        figures=totals.total,
        credit_price=scope.credit_price,
        chart=None
        if filters.selects_videos or filters.search
        else build_spend_chart(scope, totals, people),
        banners=build_ledger_notices(scope),
        stacks=build_stack_options(filters),
        url=filters.fragment_url("totals"),
        period_label=scope.period.label,
    )


def build_entries_section(
    scope: LedgerScope, totals: LedgerTotals, known_key: int | None = None
) -> LedgerEntriesSection:
    filters, page = scope.filters, build_ledger_rows_page(scope, totals, known_key)
    return LedgerEntriesSection(
        page=page,
        pending=load_pending_charges(scope),
        rows=totals.total.rows,
        period=scope.period.label_in_sentence,
        url=filters.fragment_url("entries", known=page.newest_key),
        sort_url=filters.url(sort="" if filters.oldest_first else "oldest"),
        sorted="ascending" if filters.oldest_first else "descending",
        clear_url=LedgerFilters(period=filters.period).url(),
        whole_url="" if filters.period == ALL_TIME else LedgerFilters(period=ALL_TIME).url(),
        is_empty=not filters.is_narrowed and not totals.total.rows,
        no_account=not scope.accounts,
    )


def build_stack_options(filters: LedgerFilters) -> tuple[StackOption, ...]:
    return tuple(
        StackOption(label, filters.url(by=value), value == filters.by)
        for value, label in STACK_OPTIONS.items()
    )


def iter_period_chips(scope: LedgerScope) -> Iterator[FilterChip]:
    """The period, and the account if there are several."""
    filters, days = scope.filters, build_period_options(scope.filters.period, scope.today)
    yield build_filter_chip("period", "Period", days, filters, plain=True)
    if len(scope.accounts) > 1:
        accounts = {str(pk): label for pk, label in account_labels(scope.accounts).items()}
        yield build_filter_chip("account", "Account", {"": "all", **accounts}, filters)


def build_ledger_chips(
    scope: LedgerScope, people: Sequence[TeamPerson], labels: dict[str, str]
) -> Iterator[FilterChip]:
    """One query: the features and content types of these days, whatever the other filters are."""
    filters = scope.filters
    yield from iter_period_chips(scope)
    members = {str(person.id): person.name for person in people}
    yield build_filter_chip("member", "Member", {"": "everyone", **members}, filters)
    if labels:
        yield build_filter_chip("video_label", "Label", {"": "any", **labels}, filters)
    names = scope.found.names if scope.found else load_period_names(scope)
    features = {operation: feature_label(operation) for operation in names.operations}
    yield build_filter_chip(
        "feature",
        "Feature",
        {"": "any", **include_chosen_option(filters.feature, features)},
        filters,
    )
    types = {name: name for name in sorted(names.content_types)[:MAX_CONTENT_TYPE_OPTIONS]}
    yield build_filter_chip(
        "content_type",
        "Content type",
        {"": "any", **include_chosen_option(filters.content_type, types)},
        filters,
    )
    yield build_filter_chip("direction", "Credits", DIRECTION_OPTIONS, filters)
    yield build_filter_chip("source", "Via", SOURCE_OPTIONS, filters)
    yield build_filter_chip("match", "Charge", MATCH_OPTIONS, filters)


def include_chosen_option(value: str, options: dict[str, str]) -> dict[str, str]:
    """The options sorted by name, with the chosen value even if these days lack it, so that it can
    be removed."""
    if value and value not in options:
        options[value] = feature_label(value) if "." in value else value
    return dict(sorted(options.items(), key=itemgetter(1)))


def build_video_chip(filters: LedgerFilters, page: LedgerRowsPage) -> FilterChip:
    """A chip without options: a link selects the job, out of up to a hundred thousand. Its rows
    have the title."""
    title = next((row.job for day in page.days for row in day.rows), "no entries here")
    return FilterChip("job", "Video", title, (), filters.url(job=None))


@dataclass(frozen=True, slots=True)
class DateFields:
    """`problem` says what is wrong with the typed days and what is shown instead, `problem_field`
    in which field. `hidden_params` are the other filters."""

    url: str
    first: str
    last: str
    problem: str
    problem_field: str
    zone: str
    hidden_params: tuple[tuple[str, str], ...]


def build_date_fields(page: str, filters: LedgerFilters, scope: LedgerScope) -> DateFields:
    """`filters` are those requested on that page; no query."""
    typed = filters.dates
    days = typed if typed.problem else date_range_of_period(filters.period)
    return DateFields(
        url=reverse(page),
        first=days.first,
        last=days.last,
        problem=f"{typed.problem} Showing {scope.period.label_in_sentence}."
        if typed.problem
        else "",
        problem_field=typed.problem_field,
        zone=scope.zone.key.replace("_", " "),
        hidden_params=build_hidden_params(filters, "period"),
    )


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
