"""The disk is full for a minute while a film renders: said in words, nothing lost, nothing broken.

The whole portal with its SQLite on a small disk of its own, in memory, which is filled to the last
page and freed again. `DRILL_FULL` sets the seconds. To mount it takes root.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS
from tests.browser.portal_process import LivePortal, running_portal
from tests.browser.sandbox_control import FAST_SETTINGS, SandboxControl, wait_until
from tests.drills.figures import Figures
from tests.drills.outage import (
    Answers,
    charging_calls,
    prepare_scene,
    signed_in_visitor,
    use_portal,
    watched_sandbox,
)

FULL = float(os.environ.get("DRILL_FULL", "60"))
MEBIBYTES = 64
PAGE = 4096  # bytes
BACK_SECONDS = 10
SETTLED = 60_000  # milliseconds for a charge whose answer could not be kept


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEBIBYTES}m", "reelroom-drill", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, check=False).returncode:
        pytest.skip("a disk of its own takes root and mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_minute_with_a_full_disk_loses_nothing(disk: Path, tmp_path: Path) -> None:
    figures = Figures("disk full")
    database = disk / "reelroom.sqlite3"
    site = next(sites := running_portal(tmp_path / "var", DATABASE_URL=f"sqlite:///{database}"))
    try:
        with signed_in_visitor(site) as context, watched_sandbox(site, figures, database) as stage:
            stage.change_settings(**{**FAST_SETTINGS, "render_seconds": FULL / 2})
            run_full_disk(figures, site, context, stage, database)
    finally:
        next(sites, None)
    with closing(sqlite3.connect(database)) as books:
        found = [row[0] for row in books.execute("PRAGMA integrity_check")]
    figures.report(f"integrity_check: {', '.join(found)}", "ok", holds=found == ["ok"])
    figures.close()


def run_full_disk(
    figures: Figures,
    site: LivePortal,
    context: BrowserContext,
    stage: SandboxControl,
    database: Path,
) -> None:
    scene = prepare_scene(site, context, stage)
    luca, guest = scene.luca, scene.guest
    said = len(site.lines)
    filler = fill_disk(database)
    answers = use_portal(site, scene, FULL)
    filler.unlink()
    freed = time.monotonic()
    wait_until(lambda: luca.post_form(scene.button, **scene.form).ok, seconds=60)
    took = time.monotonic() - freed
    costs = 0
    for film in (scene.rendering, scene.unanswered, scene.waiting):
        luca.page.goto(f"/videos/{film}/")
        expect(luca.film_player).to_be_attached(
            timeout=RENDERED_TIMEOUT_MS + SETTLED + FULL / 2 * 1000
        )
        costs += luca.shown_cost(film)
    spent, renders = stage.spent_credits(guest), stage.count_requests(guest, "POST", "/render")
    traces = sum("Traceback" in line for line in list(site.lines)[said:])
    report_answers(figures, answers)
    figures.report(
        f"{charging_calls(stage, guest)} charging calls, {renders} of them renders, for three "
        "videos: one answer came meanwhile, one button was pressed all the time",
        "3 renders",
        holds=renders == charging_calls(stage, guest) == 3,
    )
    figures.report(f"{traces} tracebacks in the log", "0", holds=traces == 0)
    figures.report(
        f"a press kept after {took:.1f} s", f"at most {BACK_SECONDS} s", holds=took <= BACK_SECONDS
    )
    figures.report(
        f"spent {spent} at the service, {costs} here; the three films are there",
        "the same",
        holds=spent == costs,
    )


def fill_disk(database: Path) -> Path:
    """Take the disk's last byte. The journal is emptied first: what it has it writes over again."""
    filler = database.with_name("filler")
    with filler.open("wb", buffering=0) as file:
        for _ in range(2):
            with suppress(OSError):
                while file.write(bytes(PAGE)):
                    pass
            # Where the database would have to grow for it, the journal stays, and is full as well.
            with closing(sqlite3.connect(database)) as books, suppress(sqlite3.OperationalError):
                books.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return filler


def report_answers(figures: Figures, answers: Answers) -> None:
    pages, presses = answers["page"], answers["press"]
    figures.report(
        f"pages answered {dict(pages)} for {FULL:.0f} s",
        "200 or 507",
        holds=set(pages) <= {200, 507} and len(pages) > 0,
    )
    figures.report(
        f"{presses.total()} presses of Render meanwhile answered {dict(presses)}",
        "507 at least once, else kept",
        holds=507 in presses and set(presses) <= {302, 507},
    )
    figures.report(
        f"/healthz {dict(answers['health'])}, /readyz {dict(answers['ready'])}",
        "200 and 503",
        holds=set(answers["health"]) == {200} and set(answers["ready"]) == {503},
    )
