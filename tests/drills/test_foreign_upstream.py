"""The portal starts at another address of the service than its tokens were sealed for, and goes
back: web, worker and two beats as real processes, beside two real sandboxes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import httpx
import pytest

from proxyapi.charges import dispatch_charge
from proxyapi.credentials import token_vault
from proxyapi.kinds import faceless_draft
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, Token, TokenState
from tests.drills.figures import Figures
from tests.drills.member_orders import headers, sandbox, sandbox_account
from tests.drills.portal_processes import (
    PAGES,
    PortalProcesses,
    running_portal_processes,
    seconds_until,
)
from tests.factories import ChargeFactory, JobFactory
from tests.leak_search import LOGS
from tests.proxyapi.money.conftest import started_sandbox
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount
from tests.proxyapi.test_other_upstream import lost, make_due

__all__ = ["headers", "sandbox", "sandbox_account"]
AWAY_S = float(os.environ.get("DRILL_AWAY", "40"))
RESUMED_WITHIN_S = 90.0
# A real service's address: settings let no sandbox stand there, so the row is moved instead.
LIVE = "https://video.example/v2"
ALL_PAGES = (*PAGES, "/tokens/", "/members/", "/top-up/", "/alerts/", "/budgets/", "/forecast/")


@pytest.fixture
def other_sandbox(tmp_path: Path) -> Iterator[httpx.Client]:
    """The control plane of another sandbox, which the portal is pointed at by mistake."""
    with started_sandbox(tmp_path) as base, httpx.Client(base_url=base) as control:
        yield control


@pytest.mark.django_db(transaction=True)
def test_a_start_at_another_address_sends_no_token_and_going_back_resumes(
    sandbox_account: SandboxAccount,
    headers: dict[str, str],
    other_sandbox: httpx.Client,
    settings: Any,
) -> None:
    figures = Figures("foreign upstream")
    chance = Random(figures.seed)  # noqa: S311
    home = settings.VIDEO_API_BASE_URL
    work = begin(sandbox_account.token)
    make_due(sandbox_account.token.account)
    Account.objects.update(environment=LIVE)
    settings.VIDEO_API_BASE_URL = f"{other_sandbox.base_url}/v2".replace("//v2", "/v2")
    with running_portal_processes(headers, chance) as mortals:
        use_pages_and_tasks(figures, mortals, sandbox_account.token)
    said = "".join(path.read_text() for path in LOGS.glob("*"))
    report_away(figures, other_sandbox, said, work)
    Account.objects.update(environment=home)
    settings.VIDEO_API_BASE_URL = home
    make_due(sandbox_account.token.account)
    with running_portal_processes(headers, chance) as mortals:
        took = seconds_until(lambda: is_done(work), RESUMED_WITHIN_S)
    figures.report(
        f"polling and settling went on {took:.0f} s after the address was set again: "
        f"{work_status(work)}",
        f"within {RESUMED_WITHIN_S:.0f} s, nothing pasted",
        holds=is_done(work) and Token.objects.get().state == TokenState.WORKING,
    )
    figures.close()


def begin(token: Token) -> tuple[Job, list[Charge]]:
    """A video that renders, a charge whose answer got lost, and one that was not sent yet."""
    chosen = token.account.options["mandatory"]
    ids = {"voice_id": chosen["voices"][0]["id"], "genre_id": chosen["genres"][0]["id"]}
    wanted = {"type": "ai-visuals", "title": "Ice", "script": "Ice moves. Slowly.", **ids}
    running, waiting = (
        JobFactory(token=token, account=token.account, draft__settings=wanted) for _ in range(2)
    )
    for job in (running, waiting):
        faceless_draft.quote_draft(job)
    dispatch_charge(ChargeFactory(job=running, hold=Decimal(100)).pk)
    running.refresh_from_db()
    assert running.state == JobState.RUNNING
    return running, [lost(running), ChargeFactory(job=waiting, hold=Decimal(100))]


def use_pages_and_tasks(figures: Figures, mortals: PortalProcesses, token: Token) -> None:
    """Every page, and somebody who pastes the stored token, while the workers do what is due."""
    pasted = token_vault.decrypt_token(token).reveal()
    found = [f"{path}: {mortals.request_status('GET', path)}" for path in ALL_PAGES]
    found.append(f"pasted: {mortals.request_status('POST', '/tokens/', data={'token': pasted})}")
    Event().wait(AWAY_S)
    strange = [line for line in found if not line.endswith((": 200", "pasted: 422"))]
    figures.report(
        f"{len(strange)} of {len(found)} pages failed", "0", holds=not strange, found=strange
    )


def report_away(
    figures: Figures, other: httpx.Client, said: str, work: tuple[Job, list[Charge]]
) -> None:
    sent = len(other.get("/_sandbox/journal").json())
    figures.report(f"tokens sent to another upstream than their own: {sent}", "0", holds=sent == 0)
    revoked = Token.objects.exclude(state=TokenState.WORKING).count()
    job, (unknown, waiting) = work
    for row in (job, unknown, waiting):
        row.refresh_from_db()
    states = (job.state, job.poll_error, unknown.state, waiting.state)
    kept = (JobState.RUNNING, "", ChargeState.UNKNOWN, ChargeState.HELD)
    figures.report(
        f"{revoked} tokens stopped; {work_status(work)}",
        "0, and nothing is decided",
        holds=revoked == 0 and states == kept,
    )
    lines = said.count("1 accounts are paused because they belong to another address")
    figures.report(f"{lines} of 4 processes said so at their start", "4", holds=lines == 4)


def work_status(work: tuple[Job, list[Charge]]) -> str:
    job, (unknown, waiting) = work
    return f"video {job.state}, lost charge {unknown.state}, unsent charge {waiting.state}"


def is_done(work: tuple[Job, list[Charge]]) -> bool:
    job, charges = work
    for row in (job, *charges):
        row.refresh_from_db()
    return job.state == JobState.COMPLETED and all(
        charge.state in FINAL_STATES for charge in charges
    )
