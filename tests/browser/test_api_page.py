"""The examples of docs/api.md run against the portal as they stand there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl
from tests.browser.session_age import management_environment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
CREATE_KEY = """
from dashboard.models import User
from proxyapi.gateway.keys import create_key
from proxyapi.models import KeyScope
owner = User.objects.get(email={email!r})
team = owner.memberships.get().team
print(create_key(team.tenant, owner.pk, {name!r}, list(KeyScope)).value)
"""
COUNT_CHARGES = """
from proxyapi.models import Charge
print(Charge.objects.filter(api_key__name={name!r}).count())
"""
LAST_EVENT = """
from proxyapi.models import ApiEvent, Tenant
print(max(ApiEvent.objects.number_new(tenant.pk) for tenant in Tenant.objects.all()))
"""
SHELL = (sys.executable, "manage.py", "shell", "--no-imports", "-c")
DIRECT = {"NO_PROXY": "localhost,127.0.0.1", "no_proxy": "localhost,127.0.0.1"}


@pytest.fixture
def portal(
    live_portal: LivePortal,
    sandbox_control: SandboxControl,
    open_member_page: Callable[..., MemberPage],
    request: pytest.FixtureRequest,
) -> dict[str, str]:
    """The environment of the examples, with a key of Luca's that has the test's name."""
    open_member_page("Luca").use_token_of(sandbox_control.create_account())
    email, name = live_portal.person("Luca").email, request.node.name[:60]
    key = run(live_portal, *SHELL, CREATE_KEY.format(email=email, name=name))
    return {"PORTAL_URL": live_portal.portal, "REELROOM_KEY": key, "KEY_NAME": name}


def test_each_example_makes_what_it_says(
    live_portal: LivePortal, chromium: Browser, portal: dict[str, str]
) -> None:
    last_event = run(live_portal, *SHELL, LAST_EVENT)
    curl, commands = examples("curl", "sh")
    (report,) = examples("Usage, ledger, budgets and audit log", "sh")
    (batch,) = examples("Batches", "sh")
    if shutil.which("curl"):
        assert '"counts"' in run(live_portal, "sh", "-c", batch, **portal)
        assert '"mandatory"' in run(live_portal, "sh", "-c", curl, **portal)
        assert '"next_cursor"' in run(live_portal, "sh", "-c", report, **portal)
    for line in commands.splitlines():
        assert '"data"' in run(live_portal, sys.executable, *shlex.split(line), **portal)

    (python,) = examples("Python", "python")
    python = python.replace("sleep(5)", "sleep(0.5)")
    clips = {clip_of(run(live_portal, sys.executable, "-c", python, **portal)) for _ in range(2)}
    assert len(clips) == 1, "the second run made another clip"
    check_events(live_portal, portal, min(clips), last_event)

    (javascript,) = examples("JavaScript", "javascript")
    assert clip_of(run_in_page(chromium, live_portal, javascript, portal)) not in clips
    assert count_charges(live_portal, portal) == "2"


def test_each_example_of_a_quote_spends_it_once(
    live_portal: LivePortal, chromium: Browser, portal: dict[str, str]
) -> None:
    (quote,) = examples("Quotes", "sh")
    if shutil.which("curl"):
        assert '"state": "open"' in run(live_portal, "sh", "-c", quote, **portal)
    (python,) = examples("Quotes", "python")
    first, again, state = run(live_portal, sys.executable, "-c", python, **portal).splitlines()
    assert (first, state) == (again, "state spent")
    (javascript,) = examples("Quotes", "javascript")
    line = run_in_page(chromium, live_portal, javascript, portal)
    assert re.fullmatch(r"charge [0-9a-f-]{36} at most [0-9.]+", line)
    assert count_charges(live_portal, portal) == "2"


def count_charges(site: LivePortal, portal: dict[str, str]) -> str:
    return run(site, *SHELL, COUNT_CHARGES.format(name=portal["KEY_NAME"]))


def examples(heading: str, language: str) -> list[str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.M | re.S)


def run_in_page(
    chromium: Browser, site: LivePortal, javascript: str, portal: dict[str, str]
) -> str:
    """What a script prints on a page of the portal's own address."""
    texts = {
        "http://localhost:8000": site.portal,
        "rr_live_…": portal["REELROOM_KEY"],
        "5000": "500",
    }
    for text, value in texts.items():
        javascript = javascript.replace(text, value)
    page = chromium.new_page()
    lines: list[str] = []
    page.on("console", lambda message: lines.append(message.text))
    page.goto(f"{site.portal}/api/v2/openapi.json")
    page.evaluate(f"async () => {{ {javascript} }}")
    page.close()
    return "\n".join(lines)


def check_events(site: LivePortal, portal: dict[str, str], clip: str, after: str) -> None:
    """The examples that follow events tell of the end of the clip."""
    (watch,), (follow,) = examples("Events", "sh"), examples("Events", "python")
    follow = follow.replace('"0"', f'"{after}"')
    assert run(site, sys.executable, "-c", follow, **portal) == f"clip.completed {clip}"
    if shutil.which("curl"):
        # For three seconds, which curl calls an error.
        briefly = watch.replace("-m 60", f"-m 3 -H 'Last-Event-ID: {after}'").rstrip() + " || :"
        assert f'"resource": "{clip}"' in run(site, "sh", "-c", briefly, **portal)


def clip_of(output: str) -> str:
    found = re.search(r"^clip (\S+) http", output, re.M)
    assert found, output
    return found[1]


def run(site: LivePortal, *command: str, **environ: str) -> str:
    done = subprocess.run(
        command,
        env=management_environment(site) | DIRECT | environ,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
