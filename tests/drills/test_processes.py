"""`kill -9` of web, worker and two beats in random order, 200 rounds, while people order.

On a real sandbox that answers half of the orders late, so that workers die waiting. Who presses
Render as the web dies presses the same form again. What dies of a worker is its first process;
those that it forked may work on for a second. Of the two beats one is always up.
`DRILL_ROUNDS` sets another number.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from threading import Event
from typing import NamedTuple

from proxyapi import tasks
from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, Draft, Job, JobState
from tests.admission import admit_charge
from tests.drills.charging.test_kills import FIFTEEN
from tests.drills.figures import Figures
from tests.drills.member_orders import headers, judge_orders, sandbox, sandbox_account
from tests.drills.portal_processes import (
    BEATS,
    WEB,
    WORKER,
    PortalProcesses,
    running_portal_processes,
    seconds_until,
)
from tests.proxyapi.money.ambiguous_charges import decide_ambiguous
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import SETTINGS, SandboxAccount, work_until_settled

__all__ = ["headers", "sandbox", "sandbox_account"]
ROUNDS = int(os.environ.get("DRILL_ROUNDS", "200"))
KINDS = (WEB, WORKER, *BEATS)
PACE = (1.2, 3.6)  # seconds of a round: in most of the next one all of them work again
LATE = 1500  # milliseconds of an answer
LATEST = {WEB: 0.3}  # seconds from the order to the kill; 1.5 of the others
LONG_RUNNING = 6  # clips
REST = 180.0  # seconds for everything to be settled
GAP, START = 30.0, 15.0  # seconds between two ticks, and for a worker to be there
NEAR = 3  # of the 5 between two looks: the sandbox tells whole ones, the way takes some
LOOKS = re.compile(r"/v2/(text-to-video|voice-clones)/\d+")  # nothing but a look reads these


class KillOrder(NamedTuple):
    """What is ordered in a round, and who dies after it."""

    kind: str
    intent: ChargeIntent


def test_no_kill_of_a_process_charges_twice_or_stops_the_ticks(
    sandbox_account: SandboxAccount, headers: dict[str, str]
) -> None:
    figures = Figures("processes killed")
    chance = Random(figures.seed)  # noqa: S311
    orders, presses, cut_off = (
        prepare_orders(sandbox_account, chance),
        Counter[int](),
        list[ChargeIntent](),
    )
    with running_portal_processes(headers, Random(figures.seed)) as mortals:  # noqa: S311
        for order in orders:
            run_round(mortals, sandbox_account, chance, order, cut_off, presses)
        seconds_until(lambda: not still_cut_off(mortals, cut_off, presses))
        rest = seconds_until(lambda: not Charge.objects.holding().exists(), REST)
    report_charges(figures, sandbox_account, orders, rest)
    report_processes(figures, mortals, presses)
    figures.close()


def prepare_orders(stage: SandboxAccount, chance: Random) -> list[KillOrder]:
    """Clips that run for as long as the drill does, and all that is ordered in it."""
    stage.control.put("settings", json={"clip_seconds": 10**5})
    for _ in range(LONG_RUNNING):
        work_until_settled(admit_charge(INTENT_MAKERS["text_to_video.create"](stage)))
    stage.control.put("settings", json={"clip_seconds": SETTINGS["clip_seconds"]})
    assert Job.objects.filter(state=JobState.RUNNING).count() == LONG_RUNNING
    orders = []
    for _ in range(ROUNDS):
        kind = chance.choice(KINDS)
        name = "faceless.render" if kind == WEB else chance.choice(FIFTEEN)
        intent = INTENT_MAKERS[name](stage)
        if kind == WEB and intent.job:  # its page shows the price
            Draft.objects.filter(pk=intent.job.pk).update(estimate=intent.quote)
        orders.append(KillOrder(kind, intent))
    return orders


def run_round(
    mortals: PortalProcesses,
    stage: SandboxAccount,
    chance: Random,
    order: KillOrder,
    cut_off: list[ChargeIntent],
    presses: Counter[int],
) -> None:
    """Order, kill at a random moment, start again."""
    until, (kind, intent) = time.monotonic() + chance.uniform(*PACE), order
    stage.clear_faults()
    still_cut_off(mortals, cut_off, presses)
    if chance.random() < 0.5:
        stage.set_fault(
            path_pattern(intent.operation), "latency", "after", ms=chance.randrange(LATE)
        )
    with ThreadPoolExecutor(1) as hand:
        if kind == WEB:
            pressed = hand.submit(still_cut_off, mortals, [intent], presses)
        else:
            charge = admit_charge(intent)
            if chance.random() < 0.75:  # else the beat finds it
                tasks.enqueue_task_after_commit(tasks.dispatch_charge_task, charge.pk)
        Event().wait(chance.uniform(0, LATEST.get(kind, 1.5)))
        name = mortals.pick_running_beat(chance) if kind in BEATS else kind
        mortals.kill(name, mourning=chance.choice((0, 1)) if kind == WORKER else 0)
        mortals.start(name)
    if kind == WEB:
        cut_off += pressed.result()
    Event().wait(max(0.0, until - time.monotonic()))


def still_cut_off(
    mortals: PortalProcesses, intents: list[ChargeIntent], presses: Counter[int]
) -> list[ChargeIntent]:
    """Press Render in the page of each; those whose press was not answered stay."""
    for intent in [*intents]:
        assert intent.job
        form = {"nonce": str(intent.nonce), "price": str(intent.quote)}
        status = mortals.request_status("POST", f"/studio/{intent.job.pk}/renders/", data=form)
        presses[status] += 1
        if status:
            intents.remove(intent)
    return intents


def report_charges(
    figures: Figures, stage: SandboxAccount, orders: list[KillOrder], rest: float
) -> None:
    journal, twice = stage.control.get("journal").json(), list[str]()
    took = max(it.settled_at - it.created_at for it in Charge.objects.all() if it.settled_at)
    ended, stuck = decide_ambiguous(stage)
    figures.report(
        f"{len(ended)} of {len(orders)} orders left to people, as one debit fits several",
        "none for another reason",
        holds=not stuck,
        found=stuck,
    )
    verdict = judge_orders(stage, [it.intent for it in orders], twice)
    verdict.check_account(stage, "in the end")
    for name, found in verdict.kinds.items():
        figures.report(
            f"{len(found)} {name} of {len(orders)} orders", "0", holds=not found, found=found
        )
    figures.report(f"{len(twice)} charges sent twice", "0", holds=not twice, found=twice)
    figures.report(
        f"at rest {rest:.0f} s after the last kill; a charge took {took.seconds} s at most",
        f"{REST:.0f} s each, but for what is left to people",
        holds=(rest < REST or bool(ended)) and took < timedelta(seconds=REST),
    )
    looks = defaultdict[str, list[float]](list)
    for line in journal:
        if line["method"] == "GET" and LOOKS.fullmatch(line["path"]):
            looks[line["path"]].append(datetime.fromisoformat(line["at"]).timestamp())
    pairs = sorted(b - a for times in looks.values() for a, b in pairwise(times))
    figures.report(
        f"{sum(pair < NEAR for pair in pairs)} of {len(pairs)} looks again at once, the nearest "
        f"after {pairs[0] if pairs else 0:.0f} s",
        "0",
        holds=bool(pairs) and pairs[0] >= NEAR,
    )


def report_processes(figures: Figures, mortals: PortalProcesses, presses: Counter[int]) -> None:
    kills = Counter(name for _, name in mortals.kills[:ROUNDS])
    figures.report(
        f"{kills.total()} kills, {dict(kills)}; {len(mortals.ended)} ended by themselves",
        f"{ROUNDS}, and 0",
        holds=kills.total() == ROUNDS and not mortals.ended,
        found=mortals.ended,
    )
    beats = len(mortals.seen["held"]) - 1
    sent, done = max(mortals.tick_gaps("sent")), max(mortals.tick_gaps("done", WORKER))
    figures.report(
        f"{beats} times the other beat went on; {sent:.1f} s at most between two ticks of theirs",
        f"{GAP:.0f} s",
        holds=sent <= GAP and beats > 0,
    )
    figures.report(
        f"{done:.1f} s at most from a tick, or the start of a worker, to the next tick done "
        f"({max(mortals.tick_gaps('done')):.1f} s with the deaths of workers)",
        f"{GAP + START:.0f} s",
        holds=done <= GAP + START,
    )
    figures.report(
        f"pages answered {dict(mortals.pages)}, presses of Render {dict(presses)} (0: cut off)",
        "200 and 302, or cut off",
        holds={*mortals.pages} <= {0, 200} and {*presses} <= {0, 302} and 302 in presses,
    )
