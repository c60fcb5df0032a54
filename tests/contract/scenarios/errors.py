"""Each error code provoked; a scenario answers the refusals that must bear the code."""

from __future__ import annotations

from typing import Any

import httpx

from tests.contract import staging
from tests.contract.scenarios import ScenarioTable
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

ERRORS = ScenarioTable()
Answers = list[httpx.Response]


def account_path(sandbox: SandboxClient) -> str:
    return f"/_sandbox/accounts/{sandbox.get('/_sandbox/accounts').json()[0]['account_id']}"


def change(sandbox: SandboxClient, **values: Any) -> None:
    assert sandbox.patch(account_path(sandbox), values).status_code == 200


def allow(sandbox: SandboxClient, **quota: int) -> None:
    """Give Mira's plan these quotas."""
    sandbox.set(plan_quotas={"Studio": quota})


@ERRORS.row("GEN-UNAUTHORIZED")
def missing_invalid_or_revoked(sandbox: SandboxClient) -> Answers:
    revoked = sandbox.post(f"{account_path(sandbox)}/tokens").json()
    sandbox.call("DELETE", f"/_sandbox/tokens/{revoked['fingerprint']}")
    sandbox.token = ""
    return [
        sandbox.get("/v2/me", headers=headers)
        for headers in (
            {},
            {"Authorization": "Bearer nonsense"},
            {"Authorization": "Basic bWlyYTpzZWE="},
            {"Authorization": f"Bearer {revoked['token']}"},
        )
    ]


@ERRORS.row("GEN-FORBIDDEN")
def what_the_resource_does_not_allow(sandbox: SandboxClient) -> Answers:
    number = sandbox.draft()
    return [sandbox.post(f"/v2/faceless/{number}/{act}") for act in ("render", "retry", "export")]


@ERRORS.row("GEN-NOT-FOUND")
def what_is_not_there_or_not_the_callers(sandbox: SandboxClient) -> Answers:
    number = sandbox.draft()
    video_id = staging.response_data(sandbox.get(f"/v2/faceless/{number}"))["video_id"]
    other = sandbox.post("/_sandbox/accounts", {}).json()
    bearer = {"Authorization": f"Bearer {other['token']}"}
    return [
        sandbox.get("/v2/faceless/1"),
        sandbox.get(f"/v2/faceless/{video_id}"),
        sandbox.get("/v2/faceless/x"),
        sandbox.get(f"/v2/faceless/{number}", headers=bearer),
        sandbox.get(f"/v2/b-roll/{number}"),
    ]


@ERRORS.row("GEN-WRONG-ARGS")
def an_include_outside_the_allowlist(sandbox: SandboxClient) -> Answers:
    number = sandbox.draft()
    return [
        sandbox.get("/v2/me?include=tokens"),
        sandbox.get(f"/v2/faceless/{number}?include=video"),
    ]


@ERRORS.row("GEN-API-ERROR")
def an_unexpected_error(sandbox: SandboxClient) -> Answers:
    answers = []
    for code in (500, 502, 503):
        sandbox.post("/_sandbox/faults", {"action": "status", "code": code, "times": 1})
        answers.append(sandbox.get("/v2/me"))
    return answers


@ERRORS.row("SUBSCRIPTION-REQUIRED")
def never_subscribed_or_expired(sandbox: SandboxClient) -> Answers:
    return _subscribed(sandbox, "none", "expired")


@ERRORS.row("PAID-SUBSCRIPTION-REQUIRED")
def on_a_trial(sandbox: SandboxClient) -> Answers:
    return _subscribed(sandbox, "trial")


def _subscribed(sandbox: SandboxClient, *ways: str) -> Answers:
    answers = []
    for way in ways:
        change(sandbox, subscription=way)
        answers.append(sandbox.get("/v2/faceless/options"))
    change(sandbox, subscription="paid")
    assert sandbox.get("/v2/faceless/options").status_code == 200  # access returns by itself
    return answers


@ERRORS.row("INSUFFICIENT-CREDITS")
def too_few_credits(sandbox: SandboxClient) -> Answers:
    number = sandbox.draft(**READY_SETTINGS)
    change(sandbox, credits=3)
    answers = [
        sandbox.post(f"/v2/faceless/{number}/render"),
        sandbox.put(f"/v2/faceless/{number}/scripts", staging.SCRIPT),
        sandbox.post("/v2/text-to-video", staging.CLIP),
        sandbox.post("/v2/ideas/discover", {"keyword": "tides", "network": "youtube"}),
    ]
    told = [answer.json()["error"] for answer in answers]
    assert [it["required"] for it in told] == [10, 4, 6, 15]
    assert {it["available"] for it in told} == {3}
    return answers


@ERRORS.row("EMAIL-NOT-VERIFIED")
def an_email_that_is_not_verified(sandbox: SandboxClient) -> Answers:
    sandbox.reset("unverified_email")
    assert sandbox.get("/v2/me").json()["data"]["email_verified"] is False
    assert sandbox.get("/v2/account/auto-topup").status_code == 409
    return [sandbox.post("/v2/faceless", {"type": "b-roll"})]


@ERRORS.row("FEATURE-NOT-ALLOWED")
def features_outside_the_plan(sandbox: SandboxClient) -> Answers:
    change(sandbox, features=[])
    answers = [
        sandbox.get("/v2/text-to-video/models"),
        sandbox.post("/v2/text-to-scene", {"mode": "manual"}),
        sandbox.get("/v2/voice-clones/slots"),
        sandbox.get("/v2/characters/genres"),
        sandbox.get("/v2/ideas"),
    ]
    change(sandbox, features=["text-to-video"], plan="Starter")
    return [*answers, sandbox.get("/v2/text-to-video/estimate?model=halden-max")]


@ERRORS.row("REACH-PLAN-LIMIT")
def the_plans_quotas_of_work(sandbox: SandboxClient) -> Answers:
    allow(sandbox, renders=1, clips=0, characters=0)
    sandbox.rendered()
    number = sandbox.draft(**READY_SETTINGS)
    return [
        sandbox.post(f"/v2/faceless/{number}/render"),
        sandbox.post("/v2/text-to-video", staging.CLIP),
        sandbox.call("POST", "/v2/characters", **staging.photo()),
    ]


@ERRORS.row("REACH-PLAN-STORAGE-LIMIT")
def the_plans_storage(sandbox: SandboxClient) -> Answers:
    allow(sandbox, storage_bytes=len(staging.png()))
    path = f"/v2/ai-visuals/{sandbox.draft()}/assets/upload"
    files = {"file": ("own.png", staging.png())}
    first, second = (sandbox.call("POST", path, files=files) for _ in range(2))
    assert first.status_code == 201
    return [second]


@ERRORS.row("REACH-PLAN-PUBLISH-LIMIT")
def the_plans_publications(sandbox: SandboxClient) -> Answers:
    allow(sandbox, exports=1)
    number = sandbox.rendered()
    first, second = (sandbox.post(f"/v2/faceless/{number}/export") for _ in range(2))
    assert first.status_code == 202
    return [second]
