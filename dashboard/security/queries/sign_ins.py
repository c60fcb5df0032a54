"""The last sign-ins of some people, and refused ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from django.db.models import QuerySet

from dashboard.models import SignInEvent, SignInOutcome
from dashboard.shared.formatting import clock

MAX_SIGN_INS_SHOWN = 5
MAX_EVENTS_READ = 60  # repeated wrong passwords of one client are one line
OUTCOME_STATES = {
    SignInOutcome.SIGNED_IN: ("completed", "signed in"),
    SignInOutcome.SSO_REFUSED: ("failed", "refused after single sign-on"),
    SignInOutcome.SSO_REQUIRED: ("failed", "password, but single sign-on is required"),
    SignInOutcome.PASSWORD_CHANGED: ("info", "password changed"),
    SignInOutcome.PASSWORD_RESET: ("info", "password set by a link"),
    SignInOutcome.WRONG_PASSWORD: ("failed", "wrong password"),
    SignInOutcome.RATE_LIMITED: ("late", "too many wrong passwords"),
    SignInOutcome.DISABLED: ("failed", "account disabled"),
}


@dataclass(frozen=True, slots=True)
class RecentSignIn:
    state: str
    name: str
    note: str


def load_recent_sign_ins(events: QuerySet[SignInEvent]) -> tuple[RecentSignIn, ...]:
    """Return the newest of these events first; one query."""
    newest = list(events.select_related("user").order_by("-happened_at", "-pk")[:MAX_EVENTS_READ])
    groups = groupby(newest, key=lambda event: (event.user_id, event.outcome, event.client_ip))
    rows = [build_recent_sign_in(list(same)) for _, same in groups]
    return tuple(rows[:MAX_SIGN_INS_SHOWN])


def build_recent_sign_in(same: list[SignInEvent]) -> RecentSignIn:
    """`same`: events of one user, outcome and client in a row, the newest first."""
    event = same[0]
    state, words = OUTCOME_STATES.get(
        SignInOutcome(event.outcome), ("info", event.get_outcome_display())
    )
    times = f", {len(same)} times" if len(same) > 1 else ""
    return RecentSignIn(
        state=state,
        name=str(event.user),
        note=f"{clock(event.happened_at)}, {words}{times}, from {event.client_ip}",
    )
