"""`kill -9` at 120 random moments under load: what was answered is there after the start."""

from __future__ import annotations

import os
import statistics
import threading
from dataclasses import dataclass, field
from random import Random

import httpx
import pytest

from tests.drills.figures import Figures
from tests.drills.load_customers import Customer, CustomerView
from tests.sandbox.test_restart import SandboxProcess

KILLS = int(os.environ.get("DRILL_KILLS", "120"))
CUSTOMERS = 4
LATEST = 0.8  # seconds of load before the kill
SETTINGS = {
    "films": "plain", "rate_limit": 10**9, "render_seconds": 0.4, "clip_seconds": 0.4,
    "render_seconds_per_minute": 0, "clip_seconds_per_second": 0, "journal_lines": 10**6,
}  # fmt: skip


@dataclass
class MissingTally:
    """What is missing after the starts, by kind, and how much was looked at."""

    answers: int = 0
    renders: int = 0
    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    books: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    unheard: int = 0  # charges whose answer the kill cut off


@pytest.fixture
def server(tmp_path):
    made = SandboxProcess(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.kill()


def test_two_hundred_kills_lose_nothing_that_was_answered(server):
    figures, tally = Figures("kill -9"), MissingTally()
    chance = Random(figures.seed)  # noqa: S311
    made = server.call("POST", "/_sandbox/reset", json={"scenario": "paid"}).json()["accounts"][0]
    account = f"/_sandbox/accounts/{made['account_id']}"
    server.call("PATCH", account, json={"credits": 10**8})
    server.call("PUT", "/_sandbox/settings", json=SETTINGS)
    for _ in range(KILLS):
        told = run_round(server, made["token"], chance, tally)
        with httpx.Client(
            base_url=f"http://127.0.0.1:{server.port}",
            headers={"Authorization": f"Bearer {made['token']}"},
            trust_env=False,
            timeout=20,
        ) as client:
            for each in told:
                check_answered(client, each, tally)
            check_ledger(client, account, tally)
    report_tally(figures, tally)
    figures.close()


def run_round(server, token, chance, tally) -> list[CustomerView]:
    base = f"http://127.0.0.1:{server.port}"
    crowd = [Customer(base, token, chance.randrange(2**32)) for _ in range(CUSTOMERS)]
    for customer in crowd:
        customer.start()
    threading.Event().wait(chance.uniform(0.05, LATEST))
    server.kill()
    for customer in crowd:
        customer.join()
    tally.starts.append(server.start())
    return [customer.told for customer in crowd]


def check_answered(client: httpx.Client, told: CustomerView, tally: MissingTally) -> None:
    """Everything that was answered is there; what was running goes on, and finishes."""
    tally.answers += told.answers
    tally.strange += told.strange
    tally.costs += told.costs
    client.post("/_sandbox/clock/advance", json={"seconds": 5})
    for number, titles in told.titles.items():
        found = client.get(f"/v2/faceless/{number}")
        if found.status_code != 200 or found.json()["data"]["title"] not in titles:
            tally.lost.append(f"faceless {number}: {found.status_code}")
        elif number in told.renders:
            tally.renders += 1
            check_finished(client, number, found.json()["data"]["video"], "completed", tally)
    for number in told.clips:
        found = client.get(f"/v2/text-to-video/{number}")
        if found.status_code != 200:
            tally.lost.append(f"clip {number}: {found.status_code}")
        else:
            tally.renders += 1
            check_finished(client, number, found.json()["data"]["asset"], "success", tally)


def check_finished(client, number, shown, word, tally) -> None:
    playable = shown["status"] == word and shown["url"] is not None
    if playable:
        part = client.get(shown["url"], headers={"Range": "bytes=4-7"})
        playable = (part.status_code, part.content) == (206, b"ftyp")
    if not playable:
        tally.stuck.append(f"{number}: {shown}")


def check_ledger(client, account, tally) -> None:
    """Every answered charge is in the ledger; at most one more for each customer cut off."""
    money = client.get(f"{account}/money").json()
    charges = [it["credits"] for group in money["charges"].values() for it in group]
    unheard = sum(charges) - sum(tally.costs)
    if not money["balanced"] or money["double_charges"]:
        tally.books.append(f"balance {money['balance']}, doubles {money['double_charges'][:3]}")
    extra = len(charges) - len(tally.costs)
    if not 0 <= extra - tally.unheard <= CUSTOMERS or unheard < 0:
        tally.books.append(f"{extra - tally.unheard} charges nobody was told of")
    tally.unheard = extra


def report_tally(figures: Figures, tally: MissingTally) -> None:
    for problem in (*tally.lost[:5], *tally.stuck[:5], *tally.books[:5], *tally.strange[:5]):
        print(f"  {problem}")
    figures.report(f"{len(tally.starts)} kills", f"{KILLS}", holds=len(tally.starts) >= KILLS)
    figures.report(
        f"{len(tally.lost)} of {tally.answers} answered calls lost", "0", holds=not tally.lost
    )
    figures.report(
        f"{len(tally.stuck)} of {tally.renders} renders and clips not finished", "0",
        holds=not tally.stuck,
    )  # fmt: skip
    figures.report(
        f"books wrong {len(tally.books)} times; {tally.unheard} charges cut off by a kill,"
        f" {len(tally.costs)} told",
        "0 times",
        holds=not tally.books,
    )
    figures.report(f"{len(tally.strange)} refusals", "0", holds=not tally.strange)
    slowest, usual = max(tally.starts), statistics.median(tally.starts)
    figures.report(
        f"start after a kill {usual:.2f} s, slowest {slowest:.2f} s", "every start under 20 s",
        holds=slowest < 20,
    )  # fmt: skip
