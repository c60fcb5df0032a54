"""What a plan lacks, and where its quotas end."""

from __future__ import annotations

import pytest

from tests.sandbox.conftest import READY_SETTINGS, SandboxClient
from tests.sandbox.test_characters import PNG, photo
from tests.sandbox.test_text_to_video import PROMPT


def on_plan(sandbox: SandboxClient, plan: str = "Starter", **change: object) -> None:
    (account,) = sandbox.get("/_sandbox/accounts").json()
    path = f"/_sandbox/accounts/{account['account_id']}"
    assert sandbox.patch(path, {"plan": plan, **change}).status_code == 200


def code(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize(
    ("method", "path", "feature"),
    [
        ("GET", "/v2/text-to-video/models", "text-to-video"),
        ("POST", "/v2/text-to-video", "text-to-video"),
        ("GET", "/v2/ideas", "ideas"),
        ("POST", "/v2/ideas/discover", "ideas"),
        ("GET", "/v2/characters/genres", "characters"),
        ("POST", "/v2/characters/1/train", "characters"),
        ("GET", "/v2/voice-clones/slots", "voice-clones"),
    ],
)
def test_a_feature_that_the_plan_lacks_is_refused_before_anything_else(
    sandbox, method, path, feature
):
    left = [it for it in ("text-to-video", "ideas", "characters", "voice-clones") if it != feature]
    on_plan(sandbox, features=left)
    assert code(sandbox.call(method, path)) == (403, "FEATURE-NOT-ALLOWED")
    sandbox.set(missing_feature_closes="writes")
    status = sandbox.call(method, path).status_code
    assert status == (200 if method == "GET" else 403)


def test_a_subscription_is_asked_for_before_a_feature(sandbox):
    on_plan(sandbox, features=[], subscription="trial")
    assert code(sandbox.get("/v2/ideas")) == (403, "PAID-SUBSCRIPTION-REQUIRED")


def test_a_model_outside_the_plan_is_not_offered_and_refused(sandbox):
    on_plan(sandbox)
    offered = [it["slug"] for it in sandbox.get("/v2/text-to-video/models").json()["data"]]
    assert "halden" not in offered and "brook" in offered
    wanted = {"model": "halden", "prompt": PROMPT}
    estimate = "/v2/text-to-video/estimate?model=halden"
    assert code(sandbox.get(estimate)) == (403, "FEATURE-NOT-ALLOWED")
    assert code(sandbox.post("/v2/text-to-video", wanted)) == (403, "FEATURE-NOT-ALLOWED")
    sandbox.set(model_outside_plan="invalid")
    assert sandbox.post("/v2/text-to-video", wanted).status_code == 422
    assert sandbox.get(estimate).status_code == 422
    assert sandbox.money()["ledger_sum"] == 0


def test_a_quota_of_clips_ends_and_begins_again_a_month_later(sandbox):
    on_plan(sandbox)
    sandbox.set(plan_quotas={"Starter": {"clips": 1}})
    wanted = {"model": "brook", "prompt": PROMPT}
    assert sandbox.post("/v2/text-to-video", wanted).status_code == 202
    assert code(sandbox.post("/v2/text-to-video", wanted)) == (403, "REACH-PLAN-LIMIT")
    sandbox.advance(31 * 24 * 3600)
    assert sandbox.post("/v2/text-to-video", wanted).status_code == 202


def test_a_clip_that_was_refunded_does_not_count(sandbox):
    on_plan(sandbox)
    sandbox.set(plan_quotas={"Starter": {"clips": 1}})
    sandbox.post("/_sandbox/outcomes", {"kind": "text-to-video", "statuses": ["failed"]})
    wanted = {"model": "brook", "prompt": PROMPT}
    sandbox.post("/v2/text-to-video", wanted)
    sandbox.advance(60)
    assert sandbox.post("/v2/text-to-video", wanted).status_code == 202


def test_quotas_of_renders_and_exports_are_checked_before_a_charge(sandbox):
    on_plan(sandbox)
    number = sandbox.rendered()
    spent = sandbox.money()["ledger_sum"]
    sandbox.set(plan_quotas={"Starter": {"renders": 1, "exports": 0}})
    again = sandbox.draft(**READY_SETTINGS)
    assert code(sandbox.post(f"/v2/faceless/{again}/render")) == (403, "REACH-PLAN-LIMIT")
    export = sandbox.post(f"/v2/faceless/{number}/export")
    assert code(export) == (403, "REACH-PLAN-PUBLISH-LIMIT")
    assert sandbox.money()["ledger_sum"] == spent


def test_quotas_of_characters_and_storage(sandbox):
    on_plan(sandbox)
    sandbox.set(plan_quotas={"Starter": {"characters": 1, "storage_bytes": len(PNG)}})
    assert photo(sandbox).status_code == 201
    assert code(photo(sandbox)) == (403, "REACH-PLAN-LIMIT")
    sandbox.set(plan_quotas={"Starter": {"storage_bytes": len(PNG)}})
    assert code(photo(sandbox)) == (403, "REACH-PLAN-STORAGE-LIMIT")


def test_another_plan_has_no_quota(sandbox):
    sandbox.set(plan_quotas={"Starter": {"clips": 0}})
    wanted = {"model": "halden", "prompt": PROMPT}
    assert sandbox.post("/v2/text-to-video", wanted).status_code == 202
