"""The monthly report: what a team spent in a calendar month of its time zone, in total, by member
and by label, beside the month before. Amounts are in credits.

Totals and members are the sums of the ledger page. Labels belong to videos, so they are summed from
the entries of these; a video with several labels counts under each of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.period import LedgerPeriod
from dashboard.ledger.queries.scope import LedgerScope, build_ledger_scope
from dashboard.models import Label, Team, User, VideoLabel
from dashboard.shared.feature_labels import OUTSIDE_LABEL
from dashboard.shared.formatting import credits
from proxyapi.models import Account
from proxyapi.models.credit_price import CreditPrice
from proxyapi.rollups.daily_totals import CreditSum
from proxyapi.rollups.price_counts import previous_month

ZERO_CREDITS = Decimal(0)
OUTSIDE, NO_LABEL, OVERLAP = "outside", "no-label", "overlap"
NO_LABEL_TEXT, OVERLAP_TEXT = "No label", "Counted under several labels"


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """An amount of the month, and that of the days it is compared with."""

    name: str
    amount: Decimal
    before: Decimal
    url: str = ""

    @property
    def change(self) -> Decimal:
        return self.amount - self.before

    @property
    def change_text(self) -> str:
        """Such as "+300 (+12.5 %)"."""
        sign = "+" if self.change > 0 else ""
        percent = f" ({self.change_percent})" if self.change_percent else ""
        return f"{sign}{credits(self.change)}{percent}"

    @property
    def change_percent(self) -> str:
        """Such as "+12.5 %"; empty if there is nothing to compare with, or without a change."""
        if self.before <= 0 or self.amount < 0 or not self.change:
            return ""
        percent = round(100 * self.change / self.before, 1)
        sign = "+" if self.change > 0 else "\N{MINUS SIGN}"
        return f"{sign}{abs(percent):,f}".removesuffix(".0") + " %"


@dataclass(frozen=True, slots=True)
class ReportRow(ReportFigure):
    """What a member or a label spent (`amount`) and got refunded. `kind` is empty, or one of the
    rows that make the sum complete: OUTSIDE, NO_LABEL, OVERLAP."""

    refunded: Decimal = ZERO_CREDITS
    email: str = ""
    kind: str = ""

    @property
    def after_refunds(self) -> Decimal:
        return self.amount - self.refunded


@dataclass(slots=True)
class SpendSum:
    """Positive credits."""

    spent: Decimal = ZERO_CREDITS
    refunded: Decimal = ZERO_CREDITS

    def add(self, spent: Decimal | None, refunded: Decimal | None) -> None:
        self.spent += spent or ZERO_CREDITS
        self.refunded += refunded or ZERO_CREDITS


@dataclass(slots=True)
class MonthSums:
    """Positive credits. `members` and `labels` have an entry for each id with a sum; `labelled` is
    the sum of the videos that have a label, each counted once."""

    outside: Decimal = ZERO_CREDITS
    added: Decimal = ZERO_CREDITS
    members: dict[int, SpendSum] = field(default_factory=lambda: defaultdict(SpendSum))
    labels: dict[UUID, SpendSum] = field(default_factory=lambda: defaultdict(SpendSum))
    labelled: SpendSum = field(default_factory=SpendSum)

    @property
    def matched(self) -> SpendSum:
        return add_up(self.members.values())

    @property
    def spent(self) -> Decimal:
        return self.matched.spent + self.outside

    @property
    def net(self) -> Decimal:
        return self.added + self.matched.refunded - self.spent


def add_up(sums: Iterable[SpendSum]) -> SpendSum:
    total = SpendSum()
    for row in sums:
        total.add(row.spent, row.refunded)
    return total


@dataclass(frozen=True, slots=True)
class MonthlyReport:
    """`so_far`: the month has not ended; `before` are then the same days of the month before.
    `figures` are the totals, `members` and `labels` each add up to what was spent."""

    month: date
    days: LedgerPeriod
    before: LedgerPeriod
    so_far: bool
    credit_price: CreditPrice | None
    figures: Mapping[str, ReportFigure]
    members: tuple[ReportRow, ...]
    labels: tuple[ReportRow, ...]

    @property
    def slug(self) -> str:
        """The month as in a URL, such as "2026-11"."""
        return f"{self.month:%Y-%m}"

    @property
    def total(self) -> ReportRow:
        """The sum of `members`, and of `labels`."""
        spent, refunded = self.figures["spent"], self.figures["refunded"].amount
        return ReportRow("Total", spent.amount, spent.before, spent.url, refunded=refunded)

    @property
    def is_empty(self) -> bool:
        return not any(figure.amount or figure.before for figure in self.figures.values())

    @property
    def has_labels(self) -> bool:
        return any(not row.kind for row in self.labels)

    @property
    def has_overlap(self) -> bool:
        return any(row.kind == OVERLAP for row in self.labels)


def load_monthly_report(team: Team, accounts: Sequence[Account], month: date) -> MonthlyReport:
    """Eight queries. `accounts` are those of `load_ledger_accounts`; `month` is a first day."""
    scope = build_ledger_scope(team, LedgerFilters(period=f"{month:%Y-%m}"), accounts)
    so_far = month == scope.today.replace(day=1)
    days = replace(scope.period, last=scope.today) if so_far else scope.period
    before = comparison_period(month, scope.today if so_far else None)
    current = load_month_sums(scope)
    previous = load_month_sums(replace(scope, period=before))
    return MonthlyReport(
        month=month,
        days=days,
        before=before,
        so_far=so_far,
        credit_price=scope.credit_price,
        figures=build_figures(scope.filters, current, previous),
        members=(
            *build_member_rows(scope.filters, current, previous),
            *build_outside_row(scope.filters, current, previous),
        ),
        labels=tuple(build_label_rows(team, scope.filters, current, previous)),
    )


def comparison_period(month: date, today: date | None) -> LedgerPeriod:
    """The month before `month`; with `today`, the same number of its days."""
    first, last = previous_month(month), month - timedelta(days=1)
    if today is None or today.day >= last.day:
        return LedgerPeriod(first, last, f"{first:%B %Y}")
    same_day = first.replace(day=today.day)
    return LedgerPeriod(first, same_day, f"1 to {same_day.day} {first:%B %Y}")


def load_month_sums(scope: LedgerScope) -> MonthSums:
    """Three queries."""
    sums = MonthSums()
    columns = ("member", "is_credit", "is_matched")
    rows = scope.sums("member").order_by().values_list(*columns).annotate(sum=CreditSum("amount"))
    for member, is_credit, is_matched, amount in rows:
        if not is_matched and is_credit:
            sums.added += amount
        elif not is_matched:
            sums.outside -= amount
        elif is_credit:
            sums.members[member].refunded += amount
        else:
            sums.members[member].spent -= amount
    debits, refunds = (
        CreditSum("amount", filter=Q(**{f"amount__{sign}": 0})) for sign in ("lt", "gt")
    )
    ours = scope.entries().filter(charge__isnull=False, job__isnull=False).order_by()
    labels = ours.filter(job__video_labels__label__team=scope.team)
    by_label = labels.values_list("job__video_labels__label").annotate(out=debits, came=refunds)
    for label, out, came in by_label:
        sums.labels[label].add(-(out or ZERO_CREDITS), came)
    has_label = Exists(VideoLabel.objects.filter(job=OuterRef("job"), label__team=scope.team))
    once = ours.filter(has_label).aggregate(out=debits, came=refunds)
    sums.labelled.add(-(once["out"] or ZERO_CREDITS), once["came"])
    return sums


def build_figures(
    filters: LedgerFilters, current: MonthSums, previous: MonthSums
) -> dict[str, ReportFigure]:
    """`net` is what changed the balance: credits added and refunded, minus those spent."""
    out, added, refunded = (
        {"direction": "out"},
        {"direction": "in", "match": "no"},
        {"direction": "in", "match": "yes"},
    )
    amounts = {
        "spent": ("Spent", current.spent, previous.spent, out),
        "refunded": ("Refunded", current.matched.refunded, previous.matched.refunded, refunded),
        "outside": (OUTSIDE_LABEL, current.outside, previous.outside, out | {"match": "no"}),
        "added": ("Credits added", current.added, previous.added, added),
        "net": ("Net", current.net, previous.net, {}),
    }
    return {
        key: ReportFigure(name, amount, before, filters.url(**filter_by))
        for key, (name, amount, before, filter_by) in amounts.items()
    }


def build_member_rows(
    filters: LedgerFilters, current: MonthSums, previous: MonthSums
) -> list[ReportRow]:
    """Who spent in one of the two months, highest spend first. One query."""
    people = User.objects.in_bulk({*current.members, *previous.members})
    rows = [
        ReportRow(
            name=str(person),
            amount=current.members[key].spent,
            before=previous.members[key].spent,
            url=filters.url(member=key),
            refunded=current.members[key].refunded,
            email=person.email,
        )
        for key, person in people.items()
    ]
    return sort_rows(rows)


def build_label_rows(
    team: Team, filters: LedgerFilters, current: MonthSums, previous: MonthSums
) -> Iterator[ReportRow]:
    """The labels, highest spend first; then what has none, what is outside the portal, and what was
    counted more than once, which makes the sum right. One query."""
    labels = Label.objects.filter(team=team, pk__in={*current.labels, *previous.labels})
    yield from sort_rows(
        ReportRow(
            name=label.name,
            amount=current.labels[label.pk].spent,
            before=previous.labels[label.pk].spent,
            url=filters.url(video_label=label.pk),
            refunded=current.labels[label.pk].refunded,
        )
        for label in labels
    )
    yield ReportRow(
        name=NO_LABEL_TEXT,
        amount=current.matched.spent - current.labelled.spent,
        before=previous.matched.spent - previous.labelled.spent,
        refunded=current.matched.refunded - current.labelled.refunded,
        kind=NO_LABEL,
    )
    yield from build_outside_row(filters, current, previous)
    several, several_before = add_up(current.labels.values()), add_up(previous.labels.values())
    overlap = ReportRow(
        name=OVERLAP_TEXT,
        amount=current.labelled.spent - several.spent,
        before=previous.labelled.spent - several_before.spent,
        refunded=current.labelled.refunded - several.refunded,
        kind=OVERLAP,
    )
    if overlap.amount or overlap.before or overlap.refunded:
        yield overlap


def build_outside_row(
    filters: LedgerFilters, current: MonthSums, previous: MonthSums
) -> tuple[ReportRow, ...]:
    """The row of what no charge explains; none without such spend."""
    if not current.outside and not previous.outside:
        return ()
    url = filters.url(match="no", direction="out")
    return (ReportRow(OUTSIDE_LABEL, current.outside, previous.outside, url, kind=OUTSIDE),)


def sort_rows(rows: Iterable[ReportRow]) -> list[ReportRow]:
    return sorted(rows, key=lambda row: (-row.amount, -row.before, row.name.casefold()))


def report_months(first_day: date | None, today: date) -> tuple[date, ...]:
    """The first days of the months that have a report, newest first; this month without entries."""
    months, oldest = [today.replace(day=1)], min(first_day or today, today).replace(day=1)
    while months[-1] > oldest:
        months.append(previous_month(months[-1]))
    return tuple(months)


def default_report_month(months: Sequence[date]) -> date:
    """The newest month that has ended, if there is one."""
    return months[1] if len(months) > 1 else months[0]
