"""What needs a person, in the voice of look §11: the greatest risk first, of one kind the oldest.

Everybody of the team reads the same sentences; who may act finds the act behind the link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.urls import reverse
from django.utils import timezone

from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.words import feature
from dashboard.queries.overview.concerns import RISK, Concern
from dashboard.queries.videos.cost import Amount
from dashboard.queries.videos.progress import seconds_until
from dashboard.queries.videos.sayings import NO_TRIALS, READABLE
from dashboard.queries.videos.words import quoted
from dashboard.templatetags.reelroom import clock, credits, day
from proxyapi.forecast.top_up_rules import MAX_TOP_UP_FAILURES
from proxyapi.models import Account, AccountPlan, AutoTopUp, LedgerMirror
from proxyapi.top_up import is_stopped_by_failures

MOST = 6  # that stand open; the others unfold
OFF = (
    "The service switched it off after three failed payments. Switching it on again does not "
    "clear the count. Check the payment method first."
)


@dataclass(frozen=True, slots=True)
class Ask:
    """`text` may go on with an `amount` and `after`. `next`: seconds to the next look."""

    kind: str
    state: str
    title: str
    text: str
    act: str
    url: str
    amount: Amount | None = None
    after: str = ""
    next: float | None = None


@dataclass(frozen=True, slots=True)
class Asks:
    shown: tuple[Ask, ...]
    more: tuple[Ask, ...]

    @property
    def count(self) -> int:
        return len(self.shown) + len(self.more)


def asks_from(
    accounts: Sequence[Account], concerns: Sequence[Concern], now: datetime, *, top_up: bool
) -> Asks:
    """`top_up`: whether the reader may open it; else they are shown how long the credits last."""
    found = [SAYINGS[concern.kind](concern, now) for concern in concerns]
    stopped = not any(concern.kind == "rewrite" for concern in concerns)
    found += [ask for account in accounts for ask in of_account(account, stopped, top_up)]
    found.sort(key=lambda ask: RISK.index(ask.kind))
    return Asks(tuple(found[:MOST]), tuple(found[MOST:]))


def unknown(one: Concern, now: datetime) -> Ask:
    return Ask(
        kind="unknown",
        state="unknown",
        title=f"A charge of {first_name(one)} is unknown",
        text=f"{whose(one)}, sent {clock(one.since)}, got no answer. It costs",
        amount=Amount(one.amount, "unknown"),
        after="; it was not sent again.",
        act="Follow it",
        url=books(one, f"charge-{one.id}"),
        next=seconds_until(one.then, now),
    )


def orphan(one: Concern, now: datetime) -> Ask:
    return Ask(
        kind="orphan",
        state="unknown",
        title=f"{credits(one.amount)} cr went for something that never came",
        text=f"{whose(one)} was charged at {clock(one.since)}, and its number never reached us. "
        "The service has no list of these. Write to its support with the time and the amount.",
        act="See the charge",
        url=books(one, f"charge-{one.id}"),
    )


def refund(one: Concern, now: datetime) -> Ask:
    return Ask(
        kind="refund",
        state="late",
        title=f"The service owes {credits(one.amount)} cr back",
        text=f"{whose(one)} failed. The refund is not in the ledger yet, since {clock(one.since)}.",
        act="See what is owed",
        url=books(one, "refunds"),
    )


def ask(one: Concern, now: datetime) -> Ask:
    return Ask(
        kind="ask",
        state="waiting",
        title=f"{first_name(one)} asks for {credits(one.amount)} cr",
        text=f"{feature(one.word)}{f' {quoted(one.what)}' if one.what else ''}, asked "
        f"{clock(one.since)}.",
        act="Approve or decline",
        url=reverse("budgets"),
    )


def token(one: Concern, now: datetime) -> Ask:
    name = first_name(one)
    renders = {0: "Nothing runs on it.", 1: "One render goes on at the service; Reelroom sees it"}
    said = renders.get(one.many, f"{one.many} renders go on at the service; Reelroom sees them")
    again = f" again when {name} adds a new token." if one.many else ""
    return Ask(
        kind="token",
        state="paused",
        title=f"{name}’s token stopped working",
        text=f"Token …{one.what}, at {clock(one.since)}. {said}{again}",
        act="See the tokens",
        url=reverse("tokens"),
    )


def plan(one: Concern, now: datetime) -> Ask:
    """A plan that lapsed, or a trial, which never had one."""
    trial, name = one.word == AccountPlan.TRIAL, one.what or "the account"
    return Ask(
        kind="plan",
        state="paused",
        title=f"{name[:1].upper()}{name[1:]} is on a trial"
        if trial
        else f"The plan of {name} lapsed {on(one.since)}",
        text=f"{NO_TRIALS} {READABLE}"
        if trial
        else "Nothing is lost: videos stay here, watching is paused and goes on by itself when "
        "the plan is paid.",
        act="See the tokens",
        url=reverse("tokens"),
    )


def rewrite(one: Concern, now: datetime) -> Ask:
    rows = "One row of the ledger reads" if one.many == 1 else f"{one.many} rows of the ledger read"
    return Ask(
        kind="rewrite",
        state="unknown",
        title=f"{rows} differently now",
        text=f"Noticed at {clock(one.since)}. Nothing more is read of it until somebody has "
        "looked at both versions.",
        act="Compare them",
        url=books(one, "rewrites"),
    )


def left_alone(one: Concern, now: datetime) -> Ask:
    return Ask(
        kind="left_alone",
        state="paused",
        title=f"Nobody looks at {quoted(one.what)} any more",
        text=f"{first_name(one)}’s render goes on at the service; Reelroom stopped looking "
        f"{at(one.since)}. It is not failed; its page has “Look again”.",
        act="Open it",
        url=reverse("video", args=[one.id]),
    )


def failed(one: Concern, now: datetime) -> Ask:
    single = one.many == 1
    return Ask(
        kind="failed",
        state="failed",
        title="One render failed" if single else f"{one.many} renders failed",
        text=f"{quoted(one.what)} of {first_name(one)}, {clock(one.since)}. It was charged."
        if single
        else f"The last one {clock(one.since)}. They were charged; the service does not refund "
        "renders by itself.",
        act="Open it" if single else "See them",
        url=reverse("video", args=[one.id]) if single else f"{reverse('library')}?state=failed",
    )


def outside(one: Concern, now: datetime) -> Ask:
    entries = "One entry" if one.many == 1 else f"{one.many:,} entries"
    return Ask(
        kind="outside",
        state="outside",
        title=f"{credits(one.amount)} cr spent outside the portal",
        text=f"{entries} this month, the last one {at(one.since)}.",
        act="See the entries",
        url=Filters(
            account=UUID(one.account),
            match="no",
            direction="out",
            period=f"{timezone.localtime(one.since):%Y-%m}",
        ).url(),
    )


SAYINGS: Mapping[str, Callable[[Concern, datetime], Ask]] = {
    "unknown": unknown,
    "orphan": orphan,
    "refund": refund,
    "ask": ask,
    "token": token,
    "plan": plan,
    "rewrite": rewrite,
    "left_alone": left_alone,
    "failed": failed,
    "outside": outside,
}


def of_account(account: Account, stopped: bool, may_open: bool) -> Iterator[Ask]:
    """What the account's own rows say: a mirror that stopped, a top-up that does not work."""
    ledger = related(account, "ledger")
    if stopped and isinstance(ledger, LedgerMirror) and ledger.problem:
        yield Ask(
            "problem",
            "paused",
            "The ledger is not read on",
            ledger.problem,
            "See why",
            of_books(account.pk),
        )
    top_up = related(account, "top_up")
    if isinstance(top_up, AutoTopUp) and (said := of_top_up(top_up)):
        state, title, text = said
        page, act = ("top-up", "Open top-up") if may_open else ("forecast", "See the forecast")
        yield Ask("top_up", state, title, text, act, f"{reverse(page)}?account={account.pk}")


def of_top_up(top_up: AutoTopUp) -> tuple[str, str, str] | None:
    failures = top_up.consecutive_failures
    if is_stopped_by_failures(top_up):
        return (
            "failed",
            "The automatic top-up is switched off",
            OFF,
        )
    if top_up.is_disabled_elsewhere:
        return (
            "late",
            "The automatic top-up is off",
            f"It was found off {on(top_up.found_off_at)}, and nobody here switched it off.",
        )
    if failures and top_up.enabled:
        return (
            "late",
            "An automatic top-up failed",
            f"{failures} of {MAX_TOP_UP_FAILURES}. At the third the service switches it off.",
        )
    return None


def related(account: Account, name: str) -> object | None:
    try:
        row: object = getattr(account, name)
    except ObjectDoesNotExist:
        return None
    return row


def books(one: Concern, place: str) -> str:
    return of_books(UUID(one.account), place)


def of_books(account: UUID, place: str = "") -> str:
    return f"{reverse('reconciliation')}?account={account}{f'#{place}' if place else ''}"


def whose(one: Concern) -> str:
    """`Luca’s render “Night trains are back”`"""
    title = f" {quoted(one.what)}" if one.what else ""
    return f"{first_name(one)}’s {feature(one.word).lower()}{title}"


def first_name(one: Concern) -> str:
    return one.who.split()[0] if one.who.strip() else "Somebody"


def on(moment: datetime | None) -> str:
    said = day(moment)
    return said if said in ("today", "") else f"on {said}"


def at(moment: datetime) -> str:
    """`today at 11:47`, `on 18 Nov at 14:21`"""
    return f"{on(moment)} at {clock(moment).rpartition(' ')[2]}"
