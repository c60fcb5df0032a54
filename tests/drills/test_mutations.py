"""5,000 mutated answers for each thing that is read: no exception, no false state."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.drills.figures import Figures
from tests.proxyapi.mutated_responses import count_dispatch_examples, count_poll_examples

ANSWERS = int(os.environ.get("DRILL_ANSWERS", "5000"))
READINGS = (
    "tests/proxyapi/upstream/test_mutated_answers.py",
    "tests/proxyapi/test_mutated_records.py",
    "tests/proxyapi/kinds/test_job_parts.py",
)
LOOKS = ("tests/proxyapi/polling/test_mutated_readings.py",)
# Random tests with a full number of their own.
PROPERTIES = (
    "tests/proxyapi/ledger/test_api_view_sync.py",
    "tests/proxyapi/ledger/test_mirror_properties.py",
    "tests/proxyapi/ledger/test_view_lag_properties.py",
    "tests/proxyapi/ledger/test_unknown_ledgers.py",
    "tests/proxyapi/charges/test_shared_debits.py",
    "tests/proxyapi/kinds/test_read_status.py",
    "tests/proxyapi/rollups/test_monthly_totals.py",
    "tests/proxyapi/forecast/test_run_out.py",
    "tests/sandbox/test_billing.py",
    "tests/dashboard/budgets/test_concurrent_charges.py",
    "tests/dashboard/clips/test_prices.py",
    "tests/dashboard/demo/test_seeding.py",
    "tests/dashboard/ledger/test_paging.py",
)
SENDINGS = ("tests/proxyapi/charges/test_mutated_answers.py",)

# Of this run; the one within makes its own.
OURS = ("REELROOM_TEST_DIR", "REDIS_URL", "DATABASE_URL", "REELROOM_VAR")


def test_five_thousand_mutated_answers_raise_nothing_and_show_nothing_false() -> None:
    figures = Figures("mutations")
    report_examples(figures, READINGS, f"tests of what is read, {ANSWERS} mutated answers each")
    each = f"{count_poll_examples(ANSWERS)} mutated answers each, with the row and the page"
    report_examples(figures, LOOKS, f"kinds of job looked at, {each}")
    each = f"{count_dispatch_examples(ANSWERS)} mutated answers to each charging operation"
    report_examples(figures, SENDINGS, f"tests of charges sent, {each}")
    report_examples(figures, PROPERTIES, "tests of ledger, sums and budgets, in full")
    figures.close()


def report_examples(figures: Figures, files: tuple[str, ...], what: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"),
            *(f"--hypothesis-seed={figures.seed}", *files),
        ],
        env={**environ, "REELROOM_EXAMPLES": str(ANSWERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    figures.report(
        f"{passed[1] if passed else 0} {what}, "
        f"{'none raised or lied' if done.returncode == 0 else done.stdout[-1500:]}",
        "0 exceptions, 0 false states",
        holds=done.returncode == 0 and passed is not None,
    )
