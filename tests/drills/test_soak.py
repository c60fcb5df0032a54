"""Fifty people and two hundred renders for hours: nothing grows that does not shrink.

Only by request, for a day does not fit into an hour: `DRILL_SOAK_HOURS=24`, or a part of a day.
It is measured when the renders are all under way (`DRILL_SOAK_RENDERS`) and the processes have been
warm for ten minutes (`DRILL_SOAK_WARM`, in seconds). A worker's children are told apart from it:
each is replaced after 500 tasks, so their memory is a saw, of which a few teeth have no slope. The
error beside each slope is that of a line through the means of ten minutes.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
import redis
from playwright.sync_api import BrowserContext

from tests.browser.member_page import MemberPage, sign_in
from tests.browser.portal_process import LivePortal, running_portal
from tests.browser.sandbox_control import FAST_SETTINGS, SandboxControl, wait_until
from tests.drills.figures import Figures
from tests.drills.outage import signed_in_visitor
from tests.drills.page_visitors import PageVisitors
from tests.leaks import Canaries

HOURS = float(os.environ.get("DRILL_SOAK_HOURS", "0"))
PEOPLE, RENDERING = 50, int(os.environ.get("DRILL_SOAK_RENDERS", "200"))
MAKERS = ("Mira", "Jonas", "Priya", "Luca")
ACCOUNTS = 3  # of each maker, with a token each; 30 requests a minute feed some 17 renders
RENDER_SECONDS = 1800
WARM, SAMPLED_EVERY = float(os.environ.get("DRILL_SOAK_WARM", "600")), 15.0  # seconds
MEBIBYTE = 1024**2
GROWS = 1.0  # MiB an hour
BLOCK = 10 / 60  # of an hour; longer than a child of the worker lives under this load
STEADY = 0.05  # of file descriptors and of Redis' keys
ROLES = {
    "uvicorn": "web",
    "charges@%h": "charges worker",
    "slow@%h": "slow worker",
    "worker": "worker",
    "beat": "beat",
    "proxyapi.sandbox": "sandbox",
    "valkey": "valkey",
}

pytestmark = pytest.mark.skipif(not HOURS, reason="DRILL_SOAK_HOURS says how long")


class ResourceSample(NamedTuple):
    """`memory` in MiB, by role."""

    hours: float
    memory: dict[str, float]
    files: dict[str, int]
    keys: int


def test_nothing_grows(tmp_path: Path) -> None:
    figures = Figures("soak")
    for site in running_portal(tmp_path / "var", LOG_LEVEL="WARNING"):
        with (
            signed_in_visitor(site) as context,
            SandboxControl(site.sandbox, Canaries()) as stage,
        ):
            stage.change_settings(
                **FAST_SETTINGS | {"render_seconds": RENDER_SECONDS, "journal_lines": 1000}
            )
            people = list(makers(site, context, stage))
            sessions = [one.session for one in people]
            with PageVisitors(site.portal, sessions, PEOPLE, figures.seed) as visitors:
                samples = run_soak(site, [one.desk for one in people])
        report_samples(figures, samples, visitors)
    figures.close()


class VideoMaker(NamedTuple):
    desk: MemberPage
    session: dict[str, str]


def makers(
    site: LivePortal, context: BrowserContext, stage: SandboxControl
) -> Iterator[VideoMaker]:
    """Those who make videos, each in a context of their own, with rich accounts."""
    assert context.browser is not None
    for name in MAKERS:
        own = context.browser.new_context(base_url=site.portal)
        desk = MemberPage(own.new_page())
        sign_in(desk.page, site.person(name))
        cookies = {one["name"]: str(one["value"]) for one in own.cookies()}
        desk.page.goto("about:blank")
        for _ in range(ACCOUNTS):
            desk.use_token_of(stage.create_account(credits=10_000_000))
        yield VideoMaker(desk, cookies)


def run_soak(site: LivePortal, desks: list[MemberPage]) -> list[ResourceSample]:
    """Start the renders, start another for each that ends, and sample the portal."""
    for number in range(RENDERING):
        begin_video(desks[number % len(desks)], number)
    begun = time.monotonic()
    samples, number = [], RENDERING
    begins = sampled = begun
    while (now := time.monotonic()) < begun + WARM + HOURS * 3600:
        if now >= begins:
            begin_video(desks[number % len(desks)], number)
            begins, number = begins + RENDER_SECONDS / RENDERING, number + 1
        if now >= sampled:
            samples.append(sample(site, now - begun - WARM))
            sampled += SAMPLED_EVERY
        time.sleep(0.2)
    return [one for one in samples if one.hours >= 0]


def begin_video(desk: MemberPage, number: int) -> None:
    """Order a video without looking at a page."""
    job = desk.create_draft(f"A long day, {number}")
    wait_until(lambda: "price" in desk.render_dialog_fields(job), seconds=120)
    sent = desk.post_form(f"/studio/{job}/renders/", **desk.render_dialog_fields(job))
    assert sent.url.endswith(f"/videos/{job}/"), sent.text()


def sample(site: LivePortal, seconds: float) -> ResourceSample:
    memory: defaultdict[str, float] = defaultdict(float)
    files: defaultdict[str, int] = defaultdict(int)
    for process in psutil.Process(site.pid).children(recursive=True):
        with suppress(psutil.Error):  # a child that has done its 500 tasks ends
            if role := role_of(process):
                memory[role] += process.memory_info().rss / MEBIBYTE
                files[role] += process.num_fds()
    keys = redis.Redis(unix_socket_path=str(site.var / "valkey.sock")).dbsize()
    assert isinstance(keys, int)
    return ResourceSample(seconds / 3600, dict(memory), dict(files), keys)


def role_of(process: psutil.Process) -> str:
    role, above = program(process), process.parent()
    return f"{role}'s children" if above and role == program(above) else role


def program(process: psutil.Process) -> str:
    line = " ".join(process.cmdline())
    return next((role for sign, role in ROLES.items() if sign in line), "")


def report_samples(figures: Figures, samples: list[ResourceSample], visitors: PageVisitors) -> None:
    quarter = len(samples) // 4
    hours = [one.hours for one in samples]
    for role in sorted(samples[0].memory):
        memory = [one.memory.get(role, 0) for one in samples]
        slope, error = slope_of(hours, memory)
        is_world = role == ROLES["proxyapi.sandbox"]
        figures.report(
            f"{role}: {memory[0]:.1f} MiB at first, {memory[-1]:.1f} after {hours[-1]:.1f} h: "
            f"{slope:+.2f} ± {error:.2f} MiB/h",
            "any: it keeps each video in memory" if is_world else f"below {GROWS:.0f}",
            holds=is_world or slope < GROWS,
        )
        files = [float(one.files.get(role, 0)) for one in samples]
        report_steady(figures, f"{role}, open files", files, quarter)
    report_steady(figures, "keys in Redis", [float(one.keys) for one in samples], quarter)
    broken = sum(n for said, n in visitors.answers.items() if " 5" in said)
    figures.report(f"{dict(visitors.answers)}", "no 5xx", holds=not broken)


def slope_of(hours: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Per hour, with its standard error; that of two means or fewer is not known."""
    blocks = defaultdict[int, list[float]](list)
    for hour, value in zip(hours, values, strict=True):
        blocks[int(hour / BLOCK)].append(value)
    at, means = [BLOCK * n for n in blocks], [statistics.fmean(one) for one in blocks.values()]
    if len(blocks) < 3:
        return statistics.linear_regression(hours, values).slope, math.inf
    slope, start = statistics.linear_regression(at, means)
    off = sum((mean - start - slope * hour) ** 2 for hour, mean in zip(at, means, strict=True))
    spread = statistics.pvariance(at) * len(at)
    return slope, math.sqrt(off / (len(at) - 2) / spread)


def report_steady(figures: Figures, what: str, values: list[float], quarter: int) -> None:
    """The medians of the first and of the last quarter are about the same."""
    first, last = statistics.median(values[:quarter]), statistics.median(values[-quarter:])
    figures.report(
        f"{what}: {first:.0f} in the first quarter, {last:.0f} in the last",
        "constant",
        holds=last <= first * (1 + STEADY) + 1,
    )
