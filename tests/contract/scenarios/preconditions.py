"""Each precondition of a render broken; a scenario answers the number of such a video."""

from __future__ import annotations

from tests.contract import staging
from tests.contract.scenarios import ScenarioTable
from tests.contract.scenarios.errors import change
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

PRECONDITIONS = ScenarioTable()


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in READY_SETTINGS.items() if key != name}


@PRECONDITIONS.row("no script set")
def no_script(sandbox: SandboxClient, kind: str) -> int:
    return sandbox.draft(type=kind, **without("script"))


@PRECONDITIONS.row("no voice_id")
def no_voice(sandbox: SandboxClient, kind: str) -> int:
    return sandbox.draft(type=kind, **without("voice_id"))


@PRECONDITIONS.row("unknown voice id")
def unknown_voice(sandbox: SandboxClient, kind: str) -> int:
    return sandbox.draft(type=kind, **{**READY_SETTINGS, "voice_id": 999_999})


@PRECONDITIONS.row("ai-visuals or ai-clips without genre")
def no_genre(sandbox: SandboxClient, kind: str) -> int:
    return sandbox.draft(type=kind, **without("genre_id"))


@PRECONDITIONS.row("credits below cost")
def few_credits(sandbox: SandboxClient, kind: str) -> int:
    number: int = staging.draft(kind, ready=True)(sandbox)["faceless"]
    change(sandbox, credits=1)
    return number


@PRECONDITIONS.row("url-based with no scraped assets")
def nothing_scraped(sandbox: SandboxClient, kind: str) -> int:
    return sandbox.draft(type=kind, **READY_SETTINGS)


@PRECONDITIONS.row("video rendering or syncing")
def busy(sandbox: SandboxClient, kind: str) -> int:
    number: int = staging.draft(kind, ready=True)(sandbox)["faceless"]
    assert sandbox.post(f"/v2/faceless/{number}/render").status_code == 202
    return number
