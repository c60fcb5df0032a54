"""What the ledger's pages add up to, held against the service's own money."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.ledger.queries.rows import LedgerDay
from dashboard.models import Membership
from proxyapi import ledger
from proxyapi.charges import ChargeIntent, dispatch_charge
from proxyapi.kinds import faceless_draft
from proxyapi.models import Charge, ChargeState, Job
from tests.admission import admit_charge
from tests.factories import JobFactory, MembershipFactory, TeamFactory
from tests.proxyapi.ledger.wire.sandbox_service import SandboxService
from tests.proxyapi.ledger.wire.volume_checks import charge_job

TOPPED_UP = {"enabled": True, "type": "dynamic-credits", "units": 2}
FAST_SETTINGS = {"films": "plain", "render_seconds": 0.02, "render_seconds_per_minute": 0}
PRICED = {"faceless_render": {"credits": 10}, "content_prompt_requested": {"credits": 4}}


@dataclass
class AccountActivity:
    """What happens to an account: our charges, refunds, top-ups, grants, and what others spend."""

    service: SandboxService
    job: Job
    chance: Random
    outside: int = 0  # credits that others spent
    ours: int = 0

    def prepare(self) -> None:
        settings = {**FAST_SETTINGS, "failed_render_refunds": True, "costs": PRICED}
        assert self.service.control.put("settings", json=settings).is_success
        # Each spend by the API below a tenth of the month's credits is topped up, thrice a day.
        poor = {"payment_method": True, "monthly_credits": 12_000, "credits": 1_210}
        path = f"accounts/{self.service.account_id}"
        assert self.service.control.patch(path, json=poor).is_success
        assert self.service.direct.put("/account/auto-topup", json=TOPPED_UP).is_success

    def perform(self, acts: int) -> None:
        kinds = (
            self.charge_job,
            self.charge_job,
            self.refund_render,
            self.grant_credits,
            self.spend_in_web,
            self.spend_by_script,
        )
        for _ in range(acts):
            self.chance.choice(kinds)()
            if self.chance.random() < 0.2:
                ledger.mirror_entries(self.service.account)

    def charge_job(self) -> None:
        charge_job(self.job)
        self.ours += 4

    def refund_render(self) -> None:
        """A render of ours that fails, and is given back."""
        assert self.service.control.post(
            "outcomes", json={"kind": "faceless", "statuses": ["rendering", "failed"]}
        ).is_success
        video, before = copy_draft(self.job), len(self.service.money()["refunds"])
        render_draft(video)
        self.ours += 10
        wait_for_refund(self.service, video, before)

    def grant_credits(self) -> None:
        self.service.spend_outside(-self.chance.randint(1, 300))

    def spend_in_web(self) -> None:
        credits = self.chance.randint(1, 90)
        self.service.spend_outside(credits)
        self.outside += credits

    def spend_by_script(self) -> None:
        self.service.spend_by_script()
        self.outside += 4


def copy_draft(job: Job) -> Job:
    """A draft like it, priced."""
    given = {name: getattr(job, name) for name in ("account", "token", "member")}
    title, chosen = f"Ice {uuid.uuid4()}", job.draft.settings
    draft = JobFactory.create(**given, title=title, draft__settings=chosen)
    faceless_draft.quote_draft(draft)
    draft.refresh_from_db()
    return draft


def render_draft(job: Job) -> None:
    intent = ChargeIntent(
        job=job, operation="faceless.render", nonce=uuid.uuid4(),
        hold=Decimal(10), quote=Decimal(10),
    )  # fmt: skip
    charge = admit_charge(intent)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED, charge.reason


def wait_for_refund(service: SandboxService, job: Job, before: int) -> None:
    """The refund appears when the ledger is read."""
    job.refresh_from_db()
    pause = threading.Event()
    while len(service.money()["refunds"]) == before:
        service.direct.get(f"/faceless/{job.remote_id}")
        pause.wait(0.05)


def page_differences(
    service: SandboxService, life: AccountActivity
) -> dict[str, tuple[object, object]]:
    """What the pages of the account say, and what the service has, wherever the two differ."""
    assert ledger.mirror_entries(service.account)
    assert ledger.take_checkpoint(service.account)
    reader = MembershipFactory(team=TeamFactory(tenant=service.account.tenant))
    money, amounts = service.money(), [row["credits"] for row in service.rows()]
    pages = list(all_pages(reader))
    rows = [row for page in pages for day in page["entries"]["page"].days for row in day.rows]
    figures = pages[0]["totals"]["figures"]
    pairs = {
        "the ledger's sum": (figures.net, money["ledger_sum"]),
        "entries": (figures.rows, len(amounts)),
        "spent": (figures.spent, -sum(amount for amount in amounts if amount < 0)),
        "came in": (figures.received, sum(amount for amount in amounts if amount > 0)),
        "outside the portal": (figures.outside, life.outside),
        "matched": (figures.spent - figures.outside, life.ours),
        "days": (sum(day.net for day in day_totals(pages)), money["ledger_sum"]),
        "rows listed": (sum(row["entry"].amount for row in rows), money["ledger_sum"]),
        "balance": (rows[0]["balance"], money["balance"]),
        "opening": ((rows[-1]["balance"] or 0) - rows[-1]["entry"].amount, money["opening"]),
        "charges that are not there yet": (len(pages[0]["entries"]["pending"].rows), 0),
        "charges without a debit": (Charge.objects.without_debit().count(), 0),
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def all_pages(reader: Membership) -> Iterator[dict[str, Any]]:
    query = {"period": "all"}
    while True:
        page = load_ledger_page(reader, parse_ledger_filters(query))
        yield page
        if not page["entries"]["page"].next_url:
            return
        query = dict(parse_qsl(urlsplit(page["entries"]["page"].next_url).query))


def day_totals(pages: list[dict[str, Any]]) -> list[LedgerDay]:
    """Each day once: one that goes on at the next page says its whole sum there again."""
    return list({day.title: day for page in pages for day in page["entries"]["page"].days}.values())
