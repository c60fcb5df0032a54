"""The traces of a charge whose answer got lost: was it booked, and which debit is its own?

Entries carry no id. A debit belongs to a charge when it was booked after the charge was sent and
not long after its answer was given up, its amount fits, and no other charge of the account has it
already, of whichever team; equal rows are two rows (law 4). What one charge needed, the mirror has
for the next.

The questions are asked with the account locked, after `match`: the others take their own first.
`kept` is its answer, the debits that others still wait for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from proxyapi.ledger import api_view, changes, growth, segment
from proxyapi.ledger.matching import link, of_api
from proxyapi.ledger.overlay import never_told
from proxyapi.ledger.page import reader
from proxyapi.ledger.pairs import FAR, LATE, SKEW
from proxyapi.ledger.row import TIME
from proxyapi.models import Charge, ChargeState, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.account import amount_text
from proxyapi.models.charge import MAX_BOOKING_DELAY, UNDECIDED_STATES
from proxyapi.rate_limiter import Priority

# Clocks may be worse than SKEW. A debit so near to the sending settles nothing, but it is a trace.
# So is one that is later than FAR, up to LONGEST: who is told "never charged" pays again.
NEAR = LATE
CLOCKS_KEEP = timedelta(days=1)  # how long ago tells what the clocks are like now
WHOLE_SECONDS = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
PAGES = 4  # read downward at a time; the next settling goes on from there
PATIENCE = 2.0  # seconds to wait for a turn


@dataclass(frozen=True, slots=True)
class Sight:
    """What the mirror holds of a charge's time. `whole`: at `read_at` nothing of it was missing."""

    read_at: datetime
    whole: bool


def read(charge: Charge, lane: Priority) -> Sight:
    """Mirror the ledger from its end to shortly before the charge was sent.

    While a long history is being filled up, its newest part is enough. Raises
    `errors.UpstreamError` or `AllowanceExhausted`; what was read before is kept.
    """
    account, asked_at, since = charge.account, timezone.now(), sent_at(charge) - NEAR
    source = reader(account, lane, PATIENCE)
    if source is not None:
        growth.fill(source, growth.catch_up(source), since, PAGES)
        if debits(charge, since).exclude(via_api=True).exists():
            api_view.follow(source, since, PAGES)
    ledger = segment.of(account)
    is_new = ledger.read_at is not None and ledger.read_at >= asked_at
    return Sight(asked_at, is_new and is_whole(ledger, charge, since))


def still_whole(charge: Charge) -> bool:
    """Whether nothing of the charge's time is missing now, with the account locked: another worker
    may have begun the view anew, or found a rewritten row, since it was read."""
    return is_whole(segment.of(charge.account), charge, sent_at(charge) - NEAR)


def is_whole(ledger: LedgerMirror, charge: Charge, since: datetime) -> bool:
    """A row that cannot be read, or is not told, may be the one that is looked for: without it
    nothing is whole. What is told of other amounts is not waited for: somebody always spends."""
    if ledger.problem or not growth.reaches(ledger, since):
        return False
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, happened_at__gte=since)
    # One whose own time cannot be read may be older than the place where it stands.
    later = Q(happened_at__gt=given_up_at(charge) + MAX_BOOKING_DELAY) & ~Q(trouble__endswith=TIME)
    return not rows.exclude(trouble="").exclude(later).exists() and not untold(
        ledger, charge, since
    )


def debits(
    charge: Charge, since: datetime, late: timedelta = MAX_BOOKING_DELAY
) -> QuerySet[LedgerEntry]:
    """Debits that no charge has, whoever made them: since then, and until so long after the answer
    was given up. What was booked later still is not its own, however well it fits."""
    rows = LedgerEntry.objects.without_charge().filter(account_id=charge.account_id, amount__lt=0)
    times = (since, given_up_at(charge) + late)
    return rows.filter(trouble="", happened_at__range=times).order_by("happened_at", "position")


def free(
    ledger: LedgerMirror, charge: Charge, late: timedelta = MAX_BOOKING_DELAY
) -> list[LedgerEntry]:
    """The API's debits of the charge's time that no other charge of the account has."""
    if ledger.problem:
        return []
    return list(debits(charge, sent_at(charge) - NEAR, late).filter(of_api(ledger)))


def debit_of(charge: Charge, kept: Collection[int], *, waited: bool) -> LedgerEntry | None:
    """The debit of a charge that was carried out: one of about its price, later the nearest.

    The nearest is not just any: less than half the price or twice the hold is somebody else's. And
    while what is sent just now may have made it, that one's answer is waited for.
    """
    ledger = segment.of(charge.account)
    if untold(ledger, charge, sent_at(charge) - SKEW):
        return None
    low, high = about(charge)
    mine = [
        entry for entry in free(ledger, charge) if is_after(entry, charge) and entry.pk not in kept
    ]
    chosen = [entry for entry in mine if charge.can_cost(-entry.amount)]
    if waited and not chosen:
        chosen = [entry for entry in mine if low <= -entry.amount <= high]
    entry = nearest(chosen, charge)
    return None if entry and rivals(charge, [entry], ChargeState.SENDING) else entry


def about(charge: Charge) -> tuple[Decimal, Decimal]:
    """The credits that its debit may be of: never less than `may_cost` allows."""
    low = charge.price - max(charge.price / 2, charge.hold - charge.price)
    return low, max(charge.price, charge.hold) * 2


def untold(
    ledger: LedgerMirror, charge: Charge, since: datetime, late: timedelta = MAX_BOOKING_DELAY
) -> bool:
    """Whether a debit of its time and about its price is not told to be the API's or not: it may be
    the charge's own, and the next one somebody else's."""
    low, high = about(charge)
    rows = debits(charge, since, late).filter(via_api__isnull=True)
    open_ = rows.exclude(never_told(ledger))
    return open_.filter(amount__range=(-high, -low)).exists()


def nearest(debits: list[LedgerEntry], charge: Charge) -> LedgerEntry | None:
    """By amount; of equal ones rather one booked after the sending, and of these the first."""
    wanted = charge.price
    return min(
        debits,
        key=lambda entry: (abs(-entry.amount - wanted), is_before(entry, charge)),
        default=None,
    )


def debit_alone(charge: Charge, kept: Collection[int]) -> LedgerEntry | None:
    """The debit that proves a charge of which the resource shows nothing, such as a retry.

    Where the resource would show it, a debit alone proves nothing; nor where other undecided
    charges may have taken the same credits, unless there are debits enough for all of them.

    One that was booked before the sending proves nothing either, unless the service's clock is
    known to be behind ours: an outside debit of the same price would be taken for our own. It
    stays a trace (`trace_of`), so the charge is not called uncharged: a person decides. So does one
    that was booked more than FAR after its answer was given up: it is as likely somebody else's.
    """
    if not charge.is_proved_by_debit:
        return None
    ledger = segment.of(charge.account)
    if untold(ledger, charge, sent_at(charge) - SKEW, FAR):
        return None
    fitting = [
        entry
        for entry in free(ledger, charge, FAR)
        if entry.pk not in kept and is_after(entry, charge) and charge.can_cost(-entry.amount)
    ]
    if any(is_before(entry, charge) for entry in fitting) and not clock_is_behind(charge):
        fitting = [entry for entry in fitting if not is_before(entry, charge)]
    return nearest(fitting, charge) if len(fitting) > rivals(charge, fitting) else None


def clock_is_behind(charge: Charge) -> bool:
    """Whether of late an answered charge was booked before it was sent, by the two clocks."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    answered = of_all_teams.filter(state=ChargeState.CONFIRMED)
    since = sent_at(charge) - CLOCKS_KEEP
    booked = answered.filter(sent_at__gte=since, booked_at__lt=F("sent_at") - WHOLE_SECONDS)
    return booked.exists()


def trace_of(charge: Charge, *, by_any_clock: bool = False) -> bool:
    """Whether a debit that nobody has may be the charge's: then it is not called uncharged.

    One that is kept for another charge counts, as it may be let go yet, and so does one that is
    not told to be the API's or not, and one of only about its price, as it may have cost
    something else; and of a ledger that is not read on nothing is known. `by_any_clock`: also where
    the service's is behind ours by more than a few seconds.
    """
    if segment.of(charge.account).problem:
        return True
    low, high = about(charge)
    since = sent_at(charge) - NEAR if by_any_clock else traced_from(charge)
    rows = debits(charge, since).exclude(via_api=False)
    return rows.filter(amount__range=(-high, -low)).exists()


def late_debit_of(
    charge: Charge, kept: Collection[int] = (), *, is_done: bool
) -> LedgerEntry | None:
    """The debit of a charge that was called uncharged: one of exactly its price; where its resource
    shows that it was done, also one within the margin that was held on top.

    What another charge may have made is not taken before that one is decided.
    """
    mine = [
        entry
        for entry in free(segment.of(charge.account), charge)
        if is_after(entry, charge) and entry.pk not in kept
    ]
    exact = [entry for entry in mine if -entry.amount == charge.price]
    about = [entry for entry in mine if is_done and charge.can_cost(-entry.amount)]
    entry = nearest(exact or about, charge)
    return None if entry and rivals(charge, [entry]) else entry


def take_late(charge: Charge, entry: LedgerEntry) -> None:
    """Write down that the debit is probably the charge's, which was called uncharged."""
    cost, minutes = amount_text(-entry.amount), (entry.happened_at - sent_at(charge)) // MINUTE
    sure, how = MatchConfidence.LIKELY, f"exactly its {cost} cr"
    if -entry.amount != charge.price:
        sure, how = MatchConfidence.WEAK, f"{cost} cr, about its {amount_text(charge.price)}"
    why = f"Probably its own: {how}, booked {minutes} min after it was sent. Its answer got lost, "
    link(entry, charge, sure, f"{why}and it was called uncharged before this was seen.")
    changes.note(charge.account, [entry.happened_at])


def take(charge: Charge, entry: LedgerEntry) -> None:
    """Write down that the debit is the charge's, which was settled by it just now."""
    rows = free(segment.of(charge.account), charge)
    equal = [other for other in rows if other.amount == entry.amount]
    cost, wanted = amount_text(-entry.amount), amount_text(charge.price)
    told = "Its answer got lost"
    if -entry.amount != charge.price:
        sure, why = (
            MatchConfidence.WEAK,
            f"{cost} cr were booked in its time, about its {wanted} cr.",
        )
    elif len(equal) > 1:
        sure, why = MatchConfidence.LIKELY, f"one of {len(equal)} debits of exactly its {cost} cr."
    elif is_before(entry, charge):
        sure, why = MatchConfidence.LIKELY, f"exactly its {cost} cr, booked before it by our clock."
    elif entry.happened_at > given_up_at(charge) + LATE:
        sure, why = MatchConfidence.LIKELY, f"exactly its {cost} cr, booked some minutes after it."
    else:
        sure, why = (
            MatchConfidence.CERTAIN,
            f"exactly its {cost} cr, in its time; nothing else fits.",
        )
    link(entry, charge, sure, f"{told}; {why}")
    changes.note(charge.account, [entry.happened_at])


def rivals(charge: Charge, fitting: Sequence[LedgerEntry], *states: ChargeState) -> int:
    """How many other charges whose answer is not known, of all teams, may have made one of these
    debits; of these states alone, where any are given."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    others = of_all_teams.filter(state__in=states or UNDECIDED_STATES)
    return sum(
        any(is_of_time(entry, other) and other.can_cost(-entry.amount) for entry in fitting)
        for other in others.exclude(pk=charge.pk)
    )


def is_of_time(entry: LedgerEntry, charge: Charge) -> bool:
    """Whether it is a trace of the charge by its time; of one that is sent just now, until now."""
    until = timezone.now() if charge.state == ChargeState.SENDING else given_up_at(charge)
    return traced_from(charge) <= entry.happened_at <= until + MAX_BOOKING_DELAY


def traced_from(charge: Charge) -> datetime:
    return sent_at(charge) - (NEAR if charge.is_proved_by_debit else SKEW)


def is_after(entry: LedgerEntry, charge: Charge) -> bool:
    return entry.happened_at >= sent_at(charge) - SKEW


def is_before(entry: LedgerEntry, charge: Charge) -> bool:
    """Whether it was booked before the charge was sent; the ledger's times are whole seconds."""
    return entry.happened_at < sent_at(charge).replace(microsecond=0)


def sent_at(charge: Charge) -> datetime:
    return charge.sent_at or charge.created_at


def given_up_at(charge: Charge) -> datetime:
    return charge.lost_at or sent_at(charge)
