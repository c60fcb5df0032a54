"""A hundred videos that render at once: clips of the sandbox, inserted as rows of a running portal.

To order them would take minutes, and what is drilled is how they are watched. Each token watches a
few; what the clips took is in the sandbox's books alone. They render for longer than any drill.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

import httpx
from playwright.sync_api import BrowserContext

from proxyapi.operations import OPERATIONS
from tests.browser.member_page import MemberPage, sign_in
from tests.browser.portal_process import OUTSIDE_VARIABLES, LivePortal
from tests.browser.sandbox_control import SandboxControl, SandboxGuest
from tests.drills.figures import Figures

TOKENS, ROWS = 20, 97  # with the three that are made through pages, a hundred
FOR_EVER = 10**6  # seconds
CLIP = {"model": "brook", "prompt": "a lighthouse in a storm at night"}
SIDE_MODULE = "tests.drills.hundred_clips_process"

Line: TypeAlias = dict[str, Any]


class HundredClips(NamedTuple):
    """The clips by their ids at the service; the journal's last number when all were made."""

    site: LivePortal
    stage: SandboxControl
    guest: SandboxGuest
    where: dict[str, str]
    clips: frozenset[str]
    made_at: int

    def sandbox_requests(self, since: int = 0) -> list[Line]:
        """What the portal asked of the service since then."""
        found = self.stage.http.get("journal", params={"since": max(since, self.made_at)})
        lines: list[Line] = found.raise_for_status().json()
        return lines

    def now(self) -> int:
        lines = self.sandbox_requests()
        return int(lines[-1]["number"]) if lines else self.made_at

    def unpolled_since(self, number: int) -> int:
        """How many of them had no answered poll since then."""
        seen = {it["path"].rpartition("/")[2] for it in clip_polls(self.sandbox_requests(number))}
        return len(self.clips - seen)

    def job_rows(self) -> dict[str, Any]:
        """Their rows, and each charge of the portal."""
        return ask_side_process(self.site, self.where, "tell", {"clips": [*self.clips]})


def insert_clips(
    site: LivePortal, context: BrowserContext, stage: SandboxControl, **where: str
) -> HundredClips:
    """Make the clips and put them in; `where` names the portal's database, if it is not its own."""
    guest = stage.create_account(credits=10**6)
    stage.change_settings(clip_seconds=FOR_EVER)
    with httpx.Client(base_url=f"{site.sandbox}/v2", trust_env=False, timeout=30) as client:
        tokens = [guest, *(stage.another_token(guest) for _ in range(TOKENS - 1))]
        clips = [create_clip(client, tokens[number % TOKENS]) for number in range(ROWS)]
    made_at = stage.control_request("GET", "journal")[-1]["number"]
    assert context.browser is not None
    own = context.browser.new_context(base_url=site.portal)
    priya = MemberPage(own.new_page())
    sign_in(priya.page, site.person("Priya"))
    for token in tokens:
        priya.use_token_of(token)
    own.close()
    ask_side_process(site, where, "insert", {"account": guest.account, "clips": clips})
    return HundredClips(site, stage, guest, where, frozenset(clips), made_at)


def create_clip(client: httpx.Client, token: SandboxGuest) -> str:
    made = client.post(
        "/text-to-video", json=CLIP, headers={"Authorization": f"Bearer {token.token}"}
    )
    assert made.is_success, made.text
    return str(made.json()["data"]["asset"]["id"])


def ask_side_process(
    site: LivePortal, where: dict[str, str], verb: str, asked: dict[str, Any]
) -> dict[str, Any]:
    """The answer of a process that has the portal's database."""
    environ = {name: value for name, value in os.environ.items() if name not in OUTSIDE_VARIABLES}
    environ |= {"REELROOM_VAR": str(site.var), "LOG_LEVEL": "ERROR", **where}
    done = subprocess.run(
        [sys.executable, "-m", SIDE_MODULE, verb],
        env=environ, input=json.dumps(asked), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def clip_polls(lines: list[Line]) -> Iterator[Line]:
    """The polls of clips that were answered."""
    for line in lines:
        if line["method"] == "GET" and "/text-to-video/" in line["path"] and line["status"] == 200:
            yield line


def charging_requests(lines: list[Line]) -> list[Line]:
    """What may have taken credits. A refusal for the pace of a token took none."""
    rows = [row for row in OPERATIONS.values() if row.charging]
    return [
        line
        for line in lines
        if line["status"] != 429
        and any(
            row.method == line["method"] and matches_template(row.path, line["path"])
            for row in rows
        )
    ]


def matches_template(template: str, path: str) -> bool:
    parts, of_path = f"/v2{template}".split("/"), path.split("/")
    same = (a == b or a.startswith("{") for a, b in zip(parts, of_path, strict=False))
    return len(parts) == len(of_path) and all(same)


def max_requests_in_minute(lines: list[Line]) -> int:
    """The most requests of any token in any sixty seconds, by the sandbox's whole ones."""
    times = defaultdict[str, list[float]](list)
    for line in lines:
        times[line["token"]].append(datetime.fromisoformat(line["at"]).timestamp())
    return max(
        (sum(at <= it < at + 60 for it in of_one) for of_one in times.values() for at in of_one),
        default=0,
    )


def requests_without_intent(lines: list[Line], charges: list[dict[str, str]]) -> list[str]:
    """Charging calls that no row was written for before they came; one row is for one call."""
    intents = defaultdict[tuple[str, str], list[float]](list)
    for charge in charges:
        written = datetime.fromisoformat(charge["written"]).timestamp()
        intents[charge["method"], charge["path"]].append(written)
    found = []
    for line in charging_requests(lines):
        came = datetime.fromisoformat(line["at"]).timestamp() + 1  # it tells whole seconds
        before = [it for it in intents[line["method"], line["path"]] if it < came]
        if before:
            intents[line["method"], line["path"]].remove(min(before))
        else:
            found.append(f"{line['method']} {line['path']} {line['status']} at {line['at']}")
    return found


def report_polling(
    figures: Figures, hundred: HundredClips, back: int, rows: dict[str, Any]
) -> None:
    """All of them were looked at since the journal's number `back`, and none ended."""
    unseen, states = hundred.unpolled_since(back), Counter(row["state"] for row in rows["clips"])
    figures.report(f"{unseen} of {ROWS} clips not looked at again", "0", holds=unseen == 0)
    wrong = [f"{row}" for row in rows["clips"] if row["state"] != "running" or row["failures"]]
    silent = [f"{row}" for row in rows["clips"] if row["poll_error"]]
    figures.report(
        f"{ROWS} rows {dict(states)}, {len(wrong)} wrong; {len(silent)} say they were not seen",
        f"{ROWS} running, and 0",
        holds=states == {"running": ROWS} and not wrong and not silent,
        found=wrong + silent,
    )
