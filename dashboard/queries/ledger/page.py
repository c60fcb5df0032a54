"""The ledger page: filters as chips, totals, the spend as a chart, and one page of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from dashboard.models import Membership
from dashboard.queries.charts import Bars
from dashboard.queries.chips import Chip, Sheet, chip, kept, sheet
from dashboard.queries.ledger.banners import Banner, banners_of
from dashboard.queries.ledger.fields import DateFields, fields_of
from dashboard.queries.ledger.figures import Books, Figures, books_of
from dashboard.queries.ledger.filters import DIRECTIONS, MATCHES, SORTS, SOURCES, STACKS, Filters
from dashboard.queries.ledger.pending import Pending, pending_of
from dashboard.queries.ledger.people import Person, people_of
from dashboard.queries.ledger.period import EVERYTHING, periods
from dashboard.queries.ledger.rows import Page, page_of
from dashboard.queries.ledger.scope import Scope, scope_from, scope_of
from dashboard.queries.ledger.search import names_in, searched
from dashboard.queries.ledger.spend import spend_of, split_of
from dashboard.queries.ledger.words import feature
from proxyapi.models import Account

MOST = 200  # labels that a select offers


@dataclass(frozen=True, slots=True)
class Stack:
    """A way to split the chart, as a link."""

    label: str
    url: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Totals:
    """What the filters leave, together. `chart` is missing where rows of a job or a search are
    shown alone."""

    figures: Figures
    chart: Bars | None
    banners: tuple[Banner, ...]
    stacks: tuple[Stack, ...]
    url: str
    says: str


@dataclass(frozen=True, slots=True)
class Entries:
    """`pending` are no rows of the ledger yet. `bare`: there is no row at all in these accounts and
    days, whatever the filters; `no_account`: the team has none yet."""

    page: Page
    pending: Pending
    rows: int
    period: str
    url: str
    sort_url: str
    sorted: str
    clear_url: str
    whole_url: str
    bare: bool
    no_account: bool


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """`kept`: what the form of the chips sends besides; `sheet`: all of them on a phone."""

    filters: Filters
    chips: tuple[Chip, ...]
    job: Chip | None
    kept: tuple[tuple[str, str], ...]
    sheet: Sheet
    dates: DateFields
    totals: Totals
    entries: Entries
    export_url: str
    charts_url: str


def ledger_of(
    reader: Membership, filters: Filters, accounts: Sequence[Account] | None = None
) -> LedgerPage:
    """Six queries at most; `accounts` are those of `ledgered`, else there is one more."""
    team = reader.team
    scope = scope_of(team, filters) if accounts is None else scope_from(team, filters, accounts)
    people = people_of(reader.team)
    scope = searched(scope, people)
    books = books_of(scope, () if filters.search else split_of(scope, people))
    entries, chips = entries_from(scope, books), tuple(chips_of(scope, people))
    return LedgerPage(
        filters=filters,
        chips=chips,
        kept=kept(filters, "q", *(one.name for one in chips)),
        sheet=sheet(Filters().url(), [*chips, chip("sort", "", SORTS, filters)], filters),
        dates=fields_of("ledger", filters, scope),
        job=job_chip(filters, entries.page) if filters.job else None,
        totals=totals_from(scope, books, people),
        entries=entries,
        export_url=filters.url("ledger-export"),
        charts_url=filters.url("ledger-charts", sort=""),
    )


def totals_of(reader: Membership, filters: Filters) -> Totals:
    scope, people = scope_of(reader.team, filters), people_of(reader.team)
    scope = searched(scope, people)
    books = books_of(scope, () if filters.search else split_of(scope, people))
    return totals_from(scope, books, people)


def entries_of(reader: Membership, filters: Filters, known: int | None) -> Entries:
    """`known`: the newest row that the reader has; what came after it is marked."""
    scope = scope_of(reader.team, filters)
    if filters.search:
        scope = searched(scope, people_of(reader.team))
    return entries_from(scope, books_of(scope), known)


def totals_from(scope: Scope, books: Books, people: Sequence[Person]) -> Totals:
    filters = scope.filters
    return Totals(
        figures=books.whole,
        chart=None if filters.job or filters.search else spend_of(scope, books, people),
        banners=banners_of(scope),
        stacks=stacks_of(filters),
        url=filters.part_url("totals"),
        says=scope.period.says,
    )


def entries_from(scope: Scope, books: Books, known: int | None = None) -> Entries:
    filters, page = scope.filters, page_of(scope, books, known)
    return Entries(
        page=page,
        pending=pending_of(scope),
        rows=books.whole.rows,
        period=scope.period.within,
        url=filters.part_url("entries", known=page.newest),
        sort_url=filters.url(sort="" if filters.oldest else "oldest"),
        sorted="ascending" if filters.oldest else "descending",
        clear_url=Filters(period=filters.period).url(),
        whole_url="" if filters.period == EVERYTHING else Filters(period=EVERYTHING).url(),
        bare=not filters.narrow and not books.whole.rows,
        no_account=not scope.accounts,
    )


def stacks_of(filters: Filters) -> tuple[Stack, ...]:
    return tuple(
        Stack(label, filters.url(by=value), value == filters.by) for value, label in STACKS.items()
    )


def chips_of(scope: Scope, people: Sequence[Person]) -> Iterator[Chip]:
    """One query: the features and labels of these days, whatever else is asked for."""
    filters = scope.filters
    yield chip("period", "Period", periods(filters.period, scope.today), filters, plain=True)
    if len(scope.accounts) > 1:
        accounts = {str(one.pk): one.name or one.email for one in scope.accounts}
        yield chip("account", "Account", {"": "all", **accounts}, filters)
    members = {str(one.id): one.name for one in people}
    yield chip("member", "Member", {"": "everyone", **members}, filters)
    names = scope.found.names if scope.found else names_in(scope)
    features = {one: feature(one) for one in names.operations}
    yield chip("feature", "Feature", {"": "any", **chosen_too(filters.feature, features)}, filters)
    labels = {label: label for label in sorted(names.labels)[:MOST]}
    yield chip("label", "Label", {"": "any", **chosen_too(filters.label, labels)}, filters)
    yield chip("direction", "Credits", DIRECTIONS, filters)
    yield chip("source", "Via", SOURCES, filters)
    yield chip("match", "Charge", MATCHES, filters)


def chosen_too(value: str, options: dict[str, str]) -> dict[str, str]:
    """The options by name, and a choice that these days do not have: it can be taken off."""
    if value and value not in options:
        options[value] = feature(value) if "." in value else value
    return dict(sorted(options.items(), key=itemgetter(1)))


def job_chip(filters: Filters, page: Page) -> Chip:
    """A job is chosen by a link, not from a hundred thousand; its rows know its title."""
    says = next((row.job for day in page.days for row in day.rows), "no entry here")
    return Chip("job", "Video", says, (), filters.url(job=None))
