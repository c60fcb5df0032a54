"""Forty-eight people press Render at the same moment, on one account and one web process."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, Draft
from tests.drills import portal_commands
from tests.drills.figures import Figures
from tests.drills.member_orders import headers, sandbox, sandbox_account
from tests.drills.portal_processes import WEB, PortalProcesses, seconds_until
from tests.leak_search import LOGS
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import SandboxAccount

__all__ = ["headers", "sandbox", "sandbox_account"]
PRESSES, ROUNDS, MAX_REFUSED, PRESS_TIMEOUT_S = 48, 3, 0.01, 120


def test_forty_eight_presses_at_once_are_accepted(
    sandbox_account: SandboxAccount, headers: dict[str, str]
) -> None:
    figures = Figures(f"{PRESSES} presses at once")
    answers, took = Counter[int](), list[float]()
    for web in running_web(headers):
        for _ in range(ROUNDS):
            intents = [make_order(sandbox_account) for _ in range(PRESSES)]
            began = time.monotonic()
            answers += press_at_once(web, intents)
            took.append(time.monotonic() - began)
    total, refused = PRESSES * ROUNDS, answers[503]
    charges = Charge.objects.count()
    figures.report(
        f"{refused} of {total} answered 503 ({dict(answers)}), the last after {max(took):.1f} s",
        f"at most {MAX_REFUSED:.0%}",
        holds=refused <= total * MAX_REFUSED,
    )
    figures.report(f"{charges} charges", f"{answers[302]}", holds=charges == answers[302])
    figures.close()


def running_web(headers: dict[str, str]) -> Iterator[PortalProcesses]:
    LOGS.mkdir(exist_ok=True)
    portal_commands.run_program("manage.py", "collectstatic", "--no-input", "--verbosity", "0")
    web = PortalProcesses(headers)
    try:
        web.start(WEB)
        seconds_until(lambda: web.request_status("GET", "/healthz") == 200)
        yield web
    finally:
        web.stop_all()


def make_order(stage: SandboxAccount) -> ChargeIntent:
    intent = INTENT_MAKERS["faceless.render"](stage)
    assert intent.job
    Draft.objects.filter(pk=intent.job.pk).update(estimate=intent.quote)  # its page shows it
    return intent


def press_at_once(web: PortalProcesses, intents: list[ChargeIntent]) -> Counter[int]:
    start = Barrier(len(intents))

    def press(intent: ChargeIntent) -> int:
        assert intent.job
        start.wait(60)
        form = {"nonce": str(intent.nonce), "price": str(intent.quote)}
        path = f"/studio/{intent.job.pk}/renders/"
        return web.request_status("POST", path, PRESS_TIMEOUT_S, data=form)

    with ThreadPoolExecutor(len(intents)) as pool:
        return Counter(pool.map(press, intents))
