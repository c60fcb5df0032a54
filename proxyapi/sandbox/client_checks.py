"""Fault scenarios for a client that somebody wrote, and the verdict on what it did.

In each the client has one order: one film about a topic. The verdict reads charges, jobs and the
journal since the start, and needs one thing more: whether the client says that it has the film.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from proxyapi.sandbox import scenarios
from proxyapi.sandbox.records import Account, Charge, Fault, Outcome, SavedValue
from proxyapi.sandbox.world import World

CHARGING_PATHS = ("/v2/*/scripts", "/v2/*/render", "/v2/text-to-video")
SCRIPT_FEATURE = "content_prompt_requested"
TOPIC = "why the sea is salty"
KILL_WINDOW_MS = 1500  # the answer is held back so long, and the client is killed meanwhile
CREDITS, TOO_FEW_CREDITS = 1000, 6
# A client that waits as Retry-After says is rejected once; a few more may be under way at once.
MAX_REJECTED = 3
Change = Callable[[World, Account, float], None]


class FaultScenario(NamedTuple):
    """`expected` is what a careful client does. `prepare` takes the world, the account, and the
    seconds of what is slow."""

    name: str
    happens: str
    expected: str
    prepare: Change


def fault(action: str, when: Literal["before", "after"] = "after", **options: Any) -> Change:
    """The fault hits the first request to each charging path."""

    def prepare(world: World, account: Account, slow_s: float) -> None:
        values = {"ms": slow_s * 1000, **options}
        for path in CHARGING_PATHS:
            row = Fault(id=world.number("fault"), action=action, when=when, options=values, times=1)
            row.match = {"path": path, "account_id": account.id}
            world.faults.put(row)

    return prepare


def render_as(*statuses: str) -> Change:
    def prepare(world: World, account: Account, slow_s: float) -> None:
        world.outcomes.put(
            Outcome(id=world.number("outcome"), kind="faceless", statuses=list(statuses))
        )
        if statuses[-1] == "completed":
            change_settings(world, render_seconds=slow_s)

    return prepare


def leave_few_credits(world: World, account: Account, slow_s: float) -> None:
    set_credits(account, TOO_FEW_CREDITS)


def no_change(world: World, account: Account, slow_s: float) -> None: ...


def lapse_in_render(world: World, account: Account, slow_s: float) -> None:
    account.lapsing = True
    change_settings(world, render_seconds=4.0)


REVOKES = "token_revoked"  # in `after_charge`
READ, REPORT = "reads whether it was charged before it sends again", "reports it, orders no other"
ROWS: tuple[tuple[str, str, str, Change], ...] = (
    ("answer_lost", "charged, and the connection closes", READ, fault("close")),
    ("rate_limited", "charged, and answered 429", READ, fault("rate_limited", retry_after=2)),
    ("server_error", "charged, and answered 500", READ, fault("status", code=500)),
    ("malformed_answer", "charged, and the answer is no JSON", READ, fault("malformed_json")),
    ("slow_answer", "charged, and answered after the usual time-out", READ, fault("latency")),
    ("closed_before", "the connection closes, nothing is charged", READ, fault("close", "before")),
    (
        *("long_render", "“processing” for long, a status that the specification does not name"),
        *("goes on polling, within the rate limit", render_as("processing", "completed")),
    ),
    (
        *("render_fails", "the render fails and is refunded"),
        *("reports it, or pays for one new render", render_as("rendering", "failed")),
    ),
    (
        *("client_restarts", "the client is killed after its first charge and started again"),
        *("goes on with what it paid", fault("latency", ms=KILL_WINDOW_MS)),
    ),
    ("credits_run_out", "enough for a script, not for a render", REPORT, leave_few_credits),
    ("plan_lapses", "the subscription ends while the film renders", REPORT, lapse_in_render),
    (REVOKES, "the token is revoked after the render is paid", REPORT, no_change),
)
SCENARIOS = {row[0]: FaultScenario(*row) for row in ROWS}
RESTARTS = ("client_restarts",)  # whoever runs the client kills it and starts it again
# In these a client may report a paid film as failed: it cannot read it.
FILM_UNREADABLE = ("plan_lapses", REVOKES)


def change_settings(world: World, **values: Any) -> None:
    world.store_settings(world.settings.model_copy(update=values))


def set_credits(account: Account, credits: int) -> None:
    """As the control plane does: the opening balance moves, the ledger stays."""
    account.opening += credits - account.balance
    account.balance = credits


def note_of(world: World, account_id: int) -> SavedValue | None:
    return world.notes.get(f"client check of {account_id}")


def start(world: World, scenario: FaultScenario, account: Account, slow_s: float) -> None:
    """Prepare the scenario on this account, which is paid and has credits again. Faults and
    outcomes of other scenarios end; some settings change."""
    for table in (world.faults, world.outcomes):
        for number in list(table.rows):
            table.drop(number)
    change_settings(
        world,
        films="plain",
        render_seconds=0.5,
        render_seconds_per_minute=0.0,
        failed_render_refunds=True,
    )
    set_credits(account, CREDITS)
    account.subscription, account.lapsing = "paid", False
    account.ends_at = scenarios.ends_at(world, "paid")
    revoke_tokens(world, account.id, revoked=False)
    scenario.prepare(world, account, slow_s)
    world.accounts.put(account)
    last = {
        "charge": max(world.charges.rows, default=0),
        "visit": max(world.visits.rows, default=0),
    }
    note = {"scenario": scenario.name, **last}
    world.notes.put(SavedValue(id=f"client check of {account.id}", value=note))


def after_charge(world: World, charge: Charge) -> None:
    """The front calls this for each charge: in `token_revoked` the account's tokens end with its
    first render."""
    note = note_of(world, charge.account_id)
    if note and note.value["scenario"] == REVOKES and charge.feature != SCRIPT_FEATURE:
        revoke_tokens(world, charge.account_id, revoked=True)


def revoke_tokens(world: World, account_id: int, *, revoked: bool) -> None:
    for token in [it for it in world.tokens if it.account_id == account_id]:
        token.revoked = revoked
        world.tokens.put(token)


def judge(world: World, account: Account, has_film: bool | None) -> dict[str, Any]:
    """The verdict on the scenario that was started on the account. `has_film`: what the client
    says, None if it says nothing. Raises KeyError if none was started."""
    note = note_of(world, account.id)
    if note is None:
        raise KeyError(account.id)
    scenario, since = note.value["scenario"], note.value
    tokens = {it.fingerprint for it in world.tokens if it.account_id == account.id}
    visits = [it for it in world.visits if it.id > since["visit"] and it.token in tokens]
    rejected = sum(visit.status == 429 and visit.fault is None for visit in visits)
    charges = [
        it for it in world.charges if it.account_id == account.id and it.id > since["charge"]
    ]
    paid = [charge for charge in charges if charge.credits and not charge.refunded]
    ends = [end_of_job(world, charge) for charge in paid if charge.feature != SCRIPT_FEATURE]
    times = Counter(charge.feature for charge in paid)
    twice = ", ".join(f"{name}: {count}" for name, count in times.items() if count > 1)
    is_lost = bool(ends) and "failed" not in ends and scenario not in FILM_UNREADABLE
    problems = {
        "No request arrived.": not visits,
        f"Paid more than once for one order ({twice}).": twice,
        "It said neither that it has the film nor that it failed.": has_film is None,
        "It said that it has a film that was not made.": has_film and "success" not in ends,
        "A film was paid, and lost.": not has_film and is_lost,
        f"{rejected} requests came above the rate limit.": rejected > MAX_REJECTED,
    }
    return {
        "scenario": scenario,
        "paid_more_than_once": bool(twice),
        "charges": dict(times),
        "credits": sum(charge.credits - charge.returned for charge in charges),
        "requests": len(visits),
        "rejected": rejected,
        "film_made": "success" in ends,
        "problems": [sentence for sentence, holds in problems.items() if holds],
    }


def end_of_job(world: World, charge: Charge) -> str:
    """Of the newest job that was paid with this charge: success, failed or running."""
    newest_first = reversed(world.jobs.rows.values())
    job = next(
        (it for it in newest_first if f"{it.kind}:{it.resource_id}" == charge.resource), None
    )
    if job is None or not job.ended:
        return "running"
    return "success" if job.statuses[-1] == job.success else "failed"


def summarize(verdicts: Iterable[dict[str, Any]]) -> str:
    """The result of all of them in a sentence or two."""
    done = list(verdicts)
    twice = sum(it["paid_more_than_once"] for it in done)
    other = sum(bool(it["problems"]) and not it["paid_more_than_once"] for it in done)
    counted = f"{len(done)} scenario{'s' * (len(done) != 1)}"
    said = f"Your client paid twice in {twice} of {counted}."
    return f"{said} {other} of them had another problem." if other else said
