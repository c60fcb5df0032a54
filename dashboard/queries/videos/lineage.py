"""How a video came to be: draft, script, render, retry, exports, each with cost and outcome."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.queries.videos.cost import FREE, Amount, amount_of
from dashboard.queries.videos.progress import elapsed_of
from dashboard.queries.videos.sayings import NO_REASON, Told
from dashboard.queries.videos.words import quoted
from dashboard.templatetags.reelroom import clock, credits, duration
from proxyapi.models import Charge, ChargeState, JobState
from proxyapi.models.charge import CHARGED_LATE_CODE

SCRIPTS = ("faceless.scripts", "faceless.scrape_script")
RUNS = ("faceless.render", "faceless.retry")
NAMES = {"faceless.render": "Render", "faceless.retry": "Retry", "faceless.export": "Export"}
OPEN = {
    ChargeState.DRAFT: ("waiting", "asked for, not sent"),
    ChargeState.HELD: ("waiting", "waiting to be sent"),
    ChargeState.SENDING: ("running", "being sent"),
    ChargeState.UNKNOWN: ("unknown", "the answer got lost"),
}
NOT_REFUNDED = "Renders of this kind are not refunded by themselves. None has come back."
NOT_CHARGED = "not carried out, nothing was charged"


@dataclass(frozen=True, slots=True)
class Node:
    """One step. `quote`: the service's reason; `code`: for its support; `current`: it plays."""

    state: str
    name: str
    amount: Amount
    meta: str
    quote: str = ""
    code: str = ""
    note: str = ""
    current: bool = False
    branch: bool = False


def lineage_of(told: Told) -> tuple[Node, ...]:
    charges = told.charges
    runs = [charge for charge in charges if charge.operation in RUNS and charge.is_charged]
    nodes = [draft_node(told)]
    if not any(charge.operation in SCRIPTS and charge.is_charged for charge in charges):
        nodes += own_script(told)
    for charge in charges:
        if charge.operation in SCRIPTS:
            nodes.append(script_node(charge, told))
        elif not charge.is_charged:
            nodes.append(unspent_node(charge))
        elif charge.operation in RUNS:
            nodes.append(run_node(charge, told, after=later(charge, runs)))
        else:
            nodes.append(export_node(charge))
    return tuple(nodes)


def draft_node(told: Told) -> Node:
    job = told.job
    return Node("completed", "Draft", FREE, f"{job.member.first_name}, {clock(job.created_at)}")


def own_script(told: Told) -> list[Node]:
    words = len(str(told.job.wanted.get("script") or "").split())
    if not words:
        return []
    return [Node("completed", f"Script, {words:,} words", FREE, "Own words")]


def script_node(charge: Charge, told: Told) -> Node:
    if not charge.is_charged:
        return unspent_node(charge, "Script")
    parts = ["Script"]
    if charge.body.get("duration"):
        parts.append(duration(int(charge.body["duration"])))
    if charge is [one for one in told.charges if one.operation in SCRIPTS and one.is_charged][-1]:
        parts.append(f"{len(str(told.job.wanted.get('script') or '').split()):,} words")
    meta = f"Written by the service, {clock(charge.settled_at or charge.created_at)}"
    return Node("completed", ", ".join(parts), amount_of(charge), meta)


def unspent_node(charge: Charge, name: str = "") -> Node:
    """A charge that is open, or came to nothing."""
    name = name or NAMES.get(charge.operation, "Request")
    when = clock(charge.sent_at or charge.created_at)
    if charge.is_open:
        state, word = OPEN[ChargeState(charge.state)]
        return Node(state, name, amount_of(charge), f"{when}, {word}")
    return Node(
        "failed", name, amount_of(charge), f"{when}, {NOT_CHARGED}", charge.reason, charge.code
    )


def later(charge: Charge, runs: list[Charge]) -> Charge | None:
    """The run that came after this one, if any did."""
    return next((run for run in runs[runs.index(charge) + 1 :]), None)


def run_node(charge: Charge, told: Told, *, after: Charge | None) -> Node:
    """A paid run. One that was retried had failed; the retry kept what was said of it."""
    job, name = told.job, NAMES[charge.operation]
    when = clock(charge.sent_at or charge.created_at)
    if after is not None and charge.code == CHARGED_LATE_CODE:
        return Node("late", name, amount_of(charge), f"{when}, charged late", charge.reason)
    if after is not None:
        said = after.before.get("failure") or {}
        quote = quoted(said["message"]) if said.get("message") else NO_REASON
        code = said.get("code", "")
        return Node("failed", name, amount_of(charge), f"{when}, failed", quote, code, NOT_REFUNDED)
    took = duration(elapsed_of(job, told.now))
    if job.state == JobState.COMPLETED:
        meta = f"{when}, done in {took}"
        return Node("completed", name, amount_of(charge), meta, current=True)
    if job.state == JobState.FAILED:
        quote = quoted(job.failure_message) if job.failure_message.strip() else NO_REASON
        meta, note = f"{when}, failed after {took}", f"{NOT_REFUNDED} {again(told)}".strip()
        return Node("failed", name, amount_of(charge), meta, quote, job.failure_code, note)
    meta = f"{when}, {told.state.word.lower() if told.open_charge is None else 'rendering'}"
    return Node(told.state.name, name, amount_of(charge), meta)


def again(told: Told) -> str:
    """Where a retry's price comes from."""
    if told.retry_price is None:
        return ""
    price = credits(told.retry_price)
    return f"The service quotes no price for a retry; {price} cr is what it took last time."


def export_node(charge: Charge) -> Node:
    meta = clock(charge.settled_at or charge.created_at)
    return Node("completed", NAMES["faceless.export"], amount_of(charge), meta, branch=True)
