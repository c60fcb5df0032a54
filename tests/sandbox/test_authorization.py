"""Who is let in: token, then subscription, then ownership, then everything else."""

from __future__ import annotations

import pytest

FREE_READS = ("/v2/me", "/v2/credits/costs", "/v2/credits/history")


@pytest.mark.parametrize("token", ["", "sbx_nobody_00000000", "x" * 10_000, "sbx é"])
def test_a_missing_or_unknown_token_is_refused_with_401(sandbox, token):
    sandbox.token = ""
    headers = {"Authorization": f"Bearer {token}".encode()} if token else {}
    answer = sandbox.get("/v2/me", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "GEN-UNAUTHORIZED"
    assert answer.headers["x-ratelimit-limit"] == "30"


def test_a_revoked_token_is_refused_and_the_accounts_other_token_works_on(sandbox):
    (account,) = sandbox.get("/_sandbox/accounts").json()
    other = sandbox.post(f"/_sandbox/accounts/{account['account_id']}/tokens").json()
    mine = account["tokens"][0]["fingerprint"]
    assert sandbox.call("DELETE", f"/_sandbox/tokens/{mine}").json()["revoked"] is True
    assert sandbox.get("/v2/me").status_code == 401
    sandbox.token = other["token"]
    assert sandbox.get("/v2/me").json()["data"]["id"] == account["account_id"]


@pytest.mark.parametrize(
    ("subscription", "code"),
    [
        ("trial", "PAID-SUBSCRIPTION-REQUIRED"),
        ("none", "SUBSCRIPTION-REQUIRED"),
        ("expired", "SUBSCRIPTION-REQUIRED"),
    ],
)
def test_without_a_paid_subscription_only_three_reads_work(sandbox, subscription, code):
    number = sandbox.draft()
    (account,) = sandbox.get("/_sandbox/accounts").json()
    change = {"subscription": subscription}
    sandbox.patch(f"/_sandbox/accounts/{account['account_id']}", change)
    for path in FREE_READS:
        assert sandbox.get(path).status_code == 200
    for path in (f"/v2/faceless/{number}", "/v2/faceless/options", "/v2/account/auto-topup"):
        answer = sandbox.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, code)


def test_the_subscription_is_checked_before_ownership_and_before_the_body_is_read(sandbox):
    sandbox.reset("trial")
    for body in (b"{", b'{"voice_id": "x"}', b"[]"):
        headers = {"Content-Type": "application/json"}
        answer = sandbox.call("PATCH", "/v2/faceless/1", content=body, headers=headers)
        assert answer.json()["error"]["code"] == "PAID-SUBSCRIPTION-REQUIRED"


def test_another_accounts_video_does_not_exist(sandbox):
    mira, priya, _ = sandbox.reset("team_of_three")
    number = sandbox.draft()
    sandbox.token = priya["token"]
    for method, tail in (("GET", ""), ("PATCH", ""), ("POST", "/render"), ("GET", "/estimate")):
        answer = sandbox.call(method, f"/v2/faceless/{number}{tail}", json={"voice_id": "x"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "GEN-NOT-FOUND")
    sandbox.token = mira["tokens"][1]
    assert sandbox.get(f"/v2/faceless/{number}").status_code == 200


@pytest.mark.parametrize("number", ["0", "abc", "9" * 400, "-1", "1.5", "²"])
def test_a_number_that_is_none_is_not_found(sandbox, number):
    assert sandbox.get(f"/v2/faceless/{number}").status_code == 404


def test_an_unverified_email_closes_writes_with_403_and_the_top_up_with_409(sandbox):
    sandbox.reset("unverified_email")
    assert sandbox.get("/v2/me").json()["data"]["email_verified"] is False
    answer = sandbox.post("/v2/faceless", {"type": "ai-visuals"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "EMAIL-NOT-VERIFIED")
    assert sandbox.get("/v2/faceless/options").status_code == 200
    assert sandbox.get("/v2/account/auto-topup").status_code == 409
    sandbox.set(unverified_email_refuses="everything", unverified_email_account_area="all")
    assert sandbox.get("/v2/faceless/options").status_code == 403
    assert sandbox.get("/v2/me").status_code == 409


def test_unknown_paths_are_404_and_unknown_methods_405_with_what_is_allowed(sandbox):
    nowhere = sandbox.get("/v2/presets")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "GEN-NOT-FOUND")
    wrong = sandbox.call("DELETE", f"/v2/faceless/{sandbox.draft()}")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, PATCH")


def test_an_include_outside_the_allow_list_is_a_wrong_argument(sandbox):
    answer = sandbox.get(f"/v2/faceless/{sandbox.draft()}?include=owner")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "GEN-WRONG-ARGS")
