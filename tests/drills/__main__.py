"""`make drill`: every drill in full, a line a figure, at most 105 minutes on two cores.

Those that measure the times of whole processes or of a query run first, one after the other, for
on two cores the others would be what they measure. Then four at a time, since much of a drill is
waiting, the longest first, so that none is alone at the end.

Arguments: files or folders, else all of them. What asks the portal's database is drilled on SQLite
and again on PostgreSQL; what charges is drilled on SQLite in the sandbox's second dialect, too. The
exit status is 1 when a figure falls short or a drill breaks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.drills.figures import FALLS_SHORT, HOLDS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PARALLEL_DRILLS = 4
DRILL_TIMEOUT_S = 6300.0  # seconds for all of them
ALONE = (
    *("test_processes.py", "test_rolling.py", "test_redis_away.py", "test_database_away.py"),
    *("test_polling.py", "test_rotation.py", "test_journeys.py", "test_batch_presses.py"),
)
# They ask no database of the portal, or bring their own, or one.
RUN_ONCE = (
    *("test_ledger_invariants.py", "test_kill.py", "test_schema_fuzz.py", "test_database_away.py"),
    *("test_mutants.py", "test_mutations.py", "test_canaries.py", "test_processes.py"),
    *("test_disk_full.py", "test_soak.py", "test_redis_away.py", "test_killed_portal.py"),
    *("test_journeys.py", "test_client_checks.py", "test_protocol_conformance.py"),
    *("test_batch_estimates.py", "test_batch_presses.py"),
)
# Whose figures are about money: again with a sandbox that answers in the shapes of version 1.
IN_BOTH_DIALECTS = (
    *("test_faults.py", "test_kills.py", "test_stuck_sending.py", "test_late_arrivals.py"),
    *("test_false_answers.py", "test_error_responses.py", "test_lost_and_wrong_answers.py"),
    *("test_two_teams.py", "test_portal_state_machine.py", "test_duplicate_delivery.py"),
)
# SQLite runs on one host, so there is no rolling deployment.
NEVER_ON_SQLITE = ("test_rolling.py",)
LAST_LINES = 40
# By the minutes they take; what is not named is short.
LONGEST_FIRST = (
    *("test_faults.py", "test_kills.py", "test_stuck_sending.py"),
    *("test_late_arrivals.py", "test_database_restores.py", "test_ledger_invariants.py"),
    *("test_kill.py", "test_schema_fuzz.py", "test_mutations.py", "test_mutants.py"),
    *("test_duplicate_delivery.py", "test_canaries.py", "test_two_teams.py"),
    *("test_batches.py", "test_batch_estimates.py"),
    *("test_forgetful_agents.py", "test_client_checks.py", "test_disk_full.py"),
    *("test_foreign_upstream.py", "test_ledger.py"),
    *("test_portal_state_machine.py", "test_error_responses.py"),
)


class Drill(NamedTuple):
    path: Path
    on_postgres: bool
    dialect: str = "spec"

    @property
    def variant(self) -> str:
        names = ("PostgreSQL" if self.on_postgres else "", self.dialect.removeprefix("spec"))
        return ", ".join(filter(None, names))

    @property
    def name(self) -> str:
        variant = f" on {self.variant}" if self.variant else ""
        return f"{self.path.relative_to(HERE).with_suffix('')}{variant}"


def main(wanted: list[str]) -> int:
    begun, chosen = time.monotonic(), list(drills(wanted))
    broken = [run_drill(drill) for drill in chosen if drill.path.name in ALONE]
    with ThreadPoolExecutor(PARALLEL_DRILLS) as pool:
        others = [drill for drill in chosen if drill.path.name not in ALONE]
        broken = [name for name in (*broken, *pool.map(run_drill, others)) if name]
    took = time.monotonic() - begun
    in_time = took <= DRILL_TIMEOUT_S or bool(wanted)
    verdict = HOLDS if in_time and not broken else FALLS_SHORT
    print(f"all drills: {took / 60:.1f} min; wanted: at most {DRILL_TIMEOUT_S / 60:.0f}: {verdict}")
    for name in broken:
        print(f"all drills: {name} fell short or broke", file=sys.stderr)
    return 0 if verdict == HOLDS else 1


def drills(wanted: list[str]) -> Iterator[Drill]:
    roots = [Path(name).resolve() for name in wanted] or [HERE]
    found = [file for root in roots for file in ([root] if root.is_file() else root.rglob("*.py"))]
    for path in sorted({file for file in found if file.name.startswith("test_")}, key=drill_length):
        if path.name not in NEVER_ON_SQLITE:
            yield Drill(path, on_postgres=False)
        if path.name not in RUN_ONCE:
            yield Drill(path, on_postgres=True)
        if path.name in IN_BOTH_DIALECTS:
            yield Drill(path, on_postgres=False, dialect="service-v1")


def drill_length(path: Path) -> tuple[int, Path]:
    known = path.name in LONGEST_FIRST
    return LONGEST_FIRST.index(path.name) if known else len(LONGEST_FIRST), path


def run_drill(drill: Drill) -> str:
    """Run one, telling its figures as they come; its name when it fell short or broke."""
    environ = {
        **os.environ,
        "TEST_DATABASE": "postgresql" if drill.on_postgres else "",
        "REELROOM_DIALECT": drill.dialect,
    }
    # A short trace, for what went wrong is printed before it, and the last lines are told.
    command = [sys.executable, "-m", "pytest", "-q", "-s", "--tb=short", "-m", "drill"]
    command += ["-p", "no:randomly", "-p", "no:logging", str(drill.path)]
    begun, said = time.monotonic(), []
    with subprocess.Popen(
        command, cwd=ROOT, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.rstrip())
            if line.rstrip().endswith((f": {HOLDS}", f": {FALLS_SHORT}")):
                where = f" [{drill.variant}]" if drill.variant else ""
                print(f"{line.rstrip()}{where}", flush=True)
        status, used = os.wait4(process.pid, 0)[1:]
        process.returncode = os.waitstatus_to_exitcode(status)
    print(
        f"{drill.name}: {time.monotonic() - begun:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of "
        f"them with a processor, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    if process.returncode == 0 and not any(f": {HOLDS}" in line for line in said):
        print(f"{drill.name}: not measured, {said[-1] if said else 'nothing said'}", flush=True)
    if process.returncode == 0:
        return ""
    print("\n".join(said[-LAST_LINES:]), file=sys.stderr, flush=True)
    return drill.name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
