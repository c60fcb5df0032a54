"""Three rolling deployments with migrations, while people look, write and order.

Two web servers and two beats; each release prepares twice at once, and with the first one a backup
holds the table that is to be changed. No request fails, whichever release answers it. Only on
PostgreSQL: SQLite serves one machine.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random

import httpx
import pytest
from django.db import connection

from dashboard.demo.large_team.build import SeedSize, seed_team
from dashboard.models import Membership
from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, Draft
from tests.drills.deployment import (
    ENDS_WITHIN,
    Deployment,
    WebServer,
    prepare_twice,
    running_deployment,
)
from tests.drills.figures import Figures
from tests.drills.member_orders import headers, judge_orders, sandbox, sandbox_account
from tests.drills.portal_processes import seconds_until
from tests.drills.releases import COLUMN, TABLE, Release, make_four_releases
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.settings import ON_POSTGRES

__all__ = ["headers", "sandbox", "sandbox_account"]
pytestmark = pytest.mark.skipif(not ON_POSTGRES, reason="SQLite serves one machine")
PAGES = (
    *("/", "/library/", "/studio/", "/ledger/", "/costs/", "/reconciliation/", "/budgets/"),
    *("/forecast/", "/members/", "/tokens/", "/alerts/", "/readyz", "/healthz"),
)
LINKED = re.compile(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"')
PEOPLE = 4
ORDERS = 60
ARCHIVE = SeedSize(entries=20_000, members=20, jobs=20_000, days=300)
BACKUP = 15.0  # seconds
SLOWEST = 6.0  # seconds
REST = 120.0  # seconds for everything to be settled


class BusyMember(threading.Thread):
    """Requests pages, writes drafts and presses Render; each request goes to any server."""

    def __init__(
        self,
        fleet: Deployment,
        headers: dict[str, str],
        orders: Sequence[ChargeIntent],
        chance: Random,
    ) -> None:
        super().__init__(daemon=True)
        self.asked, self.failed = Counter[str](), list[str]()
        self.slowest, self.strangers = 0.0, 0
        self.over = threading.Event()
        self._fleet, self._headers, self._chance = fleet, headers, chance
        self._left = [*orders]

    def run(self) -> None:
        threading.Thread(target=self.keep_stream_open, daemon=True).start()
        while not self.over.wait(self._chance.uniform(0, 0.6)):
            self.open_page()
            if self._chance.random() < 0.1:
                self.write_draft()
            if self._left and self._chance.random() < 0.2:
                self.order_render(self._left.pop())
        while self._left:
            self.order_render(self._left.pop())

    def open_page(self) -> None:
        """A page, and what it links from another server."""
        server, path = self.server(), self._chance.choice(PAGES)
        page = self.ask("page", server, "GET", path, 200)
        for link in LINKED.findall(page):
            other = self.server()
            self.strangers += other.release != server.release and link.endswith(".css")
            self.ask("file", other, "GET", link, 200)

    def write_draft(self) -> None:
        form = {"start": "While it changes"}
        self.ask("draft", self.server(), "POST", "/studio/drafts/", 302, form)

    def order_render(self, intent: ChargeIntent) -> None:
        assert intent.job
        form = {"nonce": str(intent.nonce), "price": str(intent.quote)}
        self.ask("press", self.server(), "POST", f"/studio/{intent.job.pk}/renders/", 302, form)

    def keep_stream_open(self) -> None:
        """What an open page does: its stream ends with the server, and it opens another one."""
        while not self.over.is_set():
            server = self.server()
            self.asked["stream"] += 1
            try:
                self.read_stream(f"{server.address}/live/")
            except (httpx.ConnectError, httpx.HTTPStatusError) as error:
                self.failed.append(f"GET /live/ of {server.release.name}: {error!r}")

    def read_stream(self, address: str) -> None:
        ended = httpx.ReadError, httpx.RemoteProtocolError
        with (
            suppress(*ended),
            httpx.stream(
                "GET", address, headers=self._headers, timeout=60, trust_env=False
            ) as stream,
        ):
            stream.raise_for_status()
            for _ in stream.iter_raw():
                pass

    def server(self) -> WebServer:
        return self._chance.choice(self._fleet.serving)

    def ask(
        self,
        what: str,
        server: WebServer,
        method: str,
        path: str,
        wanted: int,
        form: dict[str, str] | None = None,
    ) -> str:
        begun = time.monotonic()
        where = f"{method} {path} of {server.release.name}"
        try:
            answer = httpx.request(
                method, server.address + path, headers=self._headers, data=form, timeout=30,
                trust_env=False,
            )  # fmt: skip
        except httpx.TransportError as error:
            self.failed.append(f"{where}: {error!r}")
            return ""
        finally:
            self.asked[what] += 1
            self.slowest = max(self.slowest, time.monotonic() - begun)
        if answer.status_code != wanted:
            self.failed.append(f"{where}: {answer.status_code} {answer.text[:200]}")
        return answer.text


@pytest.fixture
def orders(sandbox_account: SandboxAccount, headers: dict[str, str]) -> list[ChargeIntent]:
    """Drafts whose price is shown, among so many other jobs that a migration takes a while."""
    team = Membership.objects.get(user=sandbox_account.token.owner).team
    seed_team(ARCHIVE, team.memberships.get().user)
    made = [INTENT_MAKERS["faceless.render"](sandbox_account) for _ in range(ORDERS)]
    for intent in made:
        assert intent.job
        Draft.objects.filter(pk=intent.job.pk).update(estimate=intent.quote)
    return made


@pytest.fixture
def releases(tmp_path: Path, transactional_db: None) -> Iterator[list[Release]]:
    """The last of them leaves the tables as they were; their names go, too."""
    releases = make_four_releases(tmp_path)
    yield releases
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TABLE} DROP COLUMN IF EXISTS {COLUMN}")
        cursor.execute("DELETE FROM django_migrations WHERE name LIKE '%_drilled'")


def test_no_request_fails_while_releases_replace_each_other(
    sandbox_account: SandboxAccount,
    headers: dict[str, str],
    orders: list[ChargeIntent],
    releases: list[Release],
) -> None:
    figures = Figures("rolling deployments")
    chance, statuses = Random(figures.seed), list[int]()  # noqa: S311
    today, *later = releases
    statuses += prepare_twice(today)
    with running_deployment(today) as fleet:
        with visit_deployment(fleet, headers, orders, chance) as people:
            for number, release in enumerate(later):
                with ExitStack() as backup:
                    if number == 0:
                        backup.enter_context(hold_table_lock())
                    statuses += prepare_twice(release)
                threading.Event().wait(5)  # those who served before serve with the new tables
                fleet.roll_out(release)
        rest = seconds_until(lambda: not Charge.objects.holding().exists(), REST)
    report_requests(figures, people)
    report_processes(figures, fleet, statuses, releases)
    report_charges(figures, sandbox_account, orders, rest)
    figures.close()


@contextmanager
def visit_deployment(
    fleet: Deployment, headers: dict[str, str], orders: list[ChargeIntent], chance: Random
) -> Iterator[list[BusyMember]]:
    people = [
        BusyMember(fleet, headers, orders[number::PEOPLE], Random(chance.random()))  # noqa: S311
        for number in range(PEOPLE)
    ]
    for one in people:
        one.start()
    try:
        yield people
    finally:
        for one in people:
            one.over.set()
        for one in people:
            one.join()


@contextmanager
def hold_table_lock() -> Iterator[None]:
    """A transaction that has read the table, and ends some seconds later."""
    reader = connection.copy()
    reader.inc_thread_sharing()
    reader.set_autocommit(False)
    with reader.cursor() as cursor:
        cursor.execute(f"TABLE {TABLE} LIMIT 1")
    timer = threading.Timer(BACKUP, reader.rollback)
    timer.start()
    try:
        yield
    finally:
        timer.join()
        reader.close()


def report_requests(figures: Figures, people: list[BusyMember]) -> None:
    asked = sum((one.asked for one in people), Counter[str]())
    failed = [failure for one in people for failure in one.failed]
    figures.report(f"{len(failed)} of {dict(asked)} failed", "0", holds=not failed, found=failed)
    strangers = sum(one.strangers for one in people)
    figures.report(
        f"{strangers} style sheets of a page of one release asked of another one",
        "some",
        holds=strangers > 0,
    )
    slowest = max(one.slowest for one in people)
    figures.report(
        f"the slowest answer after {slowest:.1f} s, with a backup of {BACKUP:.0f} s on the table",
        f"{SLOWEST:.0f} s",
        holds=slowest <= SLOWEST,
    )


def report_processes(
    figures: Figures, fleet: Deployment, statuses: list[int], releases: list[Release]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM django_migrations WHERE name LIKE '%_drilled'")
        applied = sorted(name for (name,) in cursor.fetchall())
    figures.report(
        f"{len(applied)} migrations applied by {len(statuses)} preparations, two at once each",
        "each once, and no preparation fails",
        holds=applied == [*releases[-1].migrations] and not any(statuses),
        found=[f"{applied}", f"{statuses}"],
    )
    took = ", ".join(f"{kind} {seconds:.1f}" for kind, seconds in fleet.took.items())
    figures.report(
        f"seconds at most from the word to end to the end: {took}",
        ", ".join(f"{kind} {seconds:.0f}" for kind, seconds in ENDS_WITHIN.items()),
        holds=all(fleet.took[kind] <= most for kind, most in ENDS_WITHIN.items())
        and not fleet.broken,
        found=fleet.broken,
    )


def report_charges(
    figures: Figures, stage: SandboxAccount, orders: list[ChargeIntent], rest: float
) -> None:
    twice = list[str]()
    verdict = judge_orders(stage, orders, twice)
    verdict.check_account(stage, "in the end")
    for name, found in verdict.kinds.items():
        figures.report(
            f"{len(found)} {name} of {len(orders)} orders", "0", holds=not found, found=found
        )
    figures.report(f"{len(twice)} charges sent twice", "0", holds=not twice, found=twice)
    figures.report(f"at rest {rest:.0f} s after the last one", f"{REST:.0f} s", holds=rest < REST)
