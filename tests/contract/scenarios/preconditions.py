"""Each precondition of a render broken; a scenario answers the number of such a video."""

from __future__ import annotations

from tests.contract import staging
from tests.contract.scenarios import Scenarios
from tests.contract.scenarios.errors import change
from tests.sandbox.conftest import READY, Sandbox

PRECONDITIONS = Scenarios()


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in READY.items() if key != name}


@PRECONDITIONS.of("no script set")
def no_script(sandbox: Sandbox, kind: str) -> int:
    return sandbox.draft(type=kind, **without("script"))


@PRECONDITIONS.of("no voice_id")
def no_voice(sandbox: Sandbox, kind: str) -> int:
    return sandbox.draft(type=kind, **without("voice_id"))


@PRECONDITIONS.of("unknown voice id")
def unknown_voice(sandbox: Sandbox, kind: str) -> int:
    return sandbox.draft(type=kind, **{**READY, "voice_id": 999_999})


@PRECONDITIONS.of("ai-visuals or ai-clips without genre")
def no_genre(sandbox: Sandbox, kind: str) -> int:
    return sandbox.draft(type=kind, **without("genre_id"))


@PRECONDITIONS.of("credits below cost")
def few_credits(sandbox: Sandbox, kind: str) -> int:
    number: int = staging.draft(kind, ready=True)(sandbox)["faceless"]
    change(sandbox, credits=1)
    return number


@PRECONDITIONS.of("url-based with no scraped assets")
def nothing_scraped(sandbox: Sandbox, kind: str) -> int:
    return sandbox.draft(type=kind, **READY)


@PRECONDITIONS.of("video rendering or syncing")
def busy(sandbox: Sandbox, kind: str) -> int:
    number: int = staging.draft(kind, ready=True)(sandbox)["faceless"]
    assert sandbox.post(f"/v2/faceless/{number}/render").status_code == 202
    return number
