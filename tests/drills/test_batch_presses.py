"""While a batch of 200 runs on one token of 30 requests a minute, its member presses Render: how
long each press waits for its request, and whether the service refused one as too many."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from statistics import quantiles
from threading import Event

from dashboard.models import BatchRow
from proxyapi.models import ApiCall, Charge
from tests.drills.batch_team import found_team, start_batch, store_batch
from tests.drills.figures import Figures
from tests.drills.member_orders import headers, sandbox, sandbox_account
from tests.drills.portal_processes import running_portal_processes
from tests.drills.test_presses_at_once import make_order
from tests.proxyapi.money.sandbox_account import SandboxAccount

__all__ = ["headers", "sandbox", "sandbox_account"]
PRESSES = int(os.environ.get("DRILL_BATCH_PRESSES", "30"))
ROWS, RATE_LIMIT, PRESS_EVERY_S, WINDOW_S = 200, 30, 20.0, 61.0
WAITS_S = 2.0  # of up to three requests the third becomes free within 1.5 s (`Priority.POLLING`)
FAST = {"rate_limit": RATE_LIMIT, "render_seconds": 5}


def test_a_press_does_not_wait_for_the_batch(
    sandbox_account: SandboxAccount, headers: dict[str, str]
) -> None:
    figures = Figures(f"{PRESSES} presses during a batch of {ROWS}")
    by = found_team(sandbox_account.token, 20, 22, 24)
    orders = [make_order(sandbox_account) for _ in range(PRESSES)]
    assert sandbox_account.control.put("settings", json=FAST).is_success
    rows = [(f"Film {row}", f"Why is lake {row} deep?", 60) for row in range(ROWS)]
    batch = store_batch(by, rows, at_once=4)
    Event().wait(WINDOW_S)  # the requests of the orders count for the service, and are unknown here
    with running_portal_processes(headers, Random(figures.seed)) as portal:  # noqa: S311
        start_batch(by, batch)
        answers = Counter[int]()
        for intent in orders:
            Event().wait(PRESS_EVERY_S)
            assert intent.job
            form = {"nonce": str(intent.nonce), "price": str(intent.quote)}
            path = f"/studio/{intent.job.pk}/renders/"
            answers[portal.request_status("POST", path, 30, data=form)] += 1
        Event().wait(PRESS_EVERY_S)
    charges = Charge.objects.filter(nonce__in=[intent.nonce for intent in orders])
    waits = sorted(
        (charge.sent_at - charge.created_at).total_seconds()
        for charge in charges
        if charge.sent_at is not None
    )
    begun = BatchRow.objects.filter(batch=batch, job__isnull=False).count()
    refused = ApiCall.objects.filter(status=429).count()
    cuts = quantiles(waits, n=20)
    figures.report(
        f"{len(waits)} of {PRESSES} presses sent ({dict(answers)}), p50 {cuts[9]:.2f} s, "
        f"p95 {cuts[18]:.2f} s after the press, the longest {waits[-1]:.2f} s; {begun} rows were "
        "begun meanwhile",
        f"p95 at most {WAITS_S:.0f} s",
        holds=len(waits) == PRESSES and cuts[18] <= WAITS_S and begun > 0,
    )
    figures.report(f"{refused} answers 429", "0", holds=not refused)
    figures.close()
