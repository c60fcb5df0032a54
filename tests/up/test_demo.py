"""The first start leaves a demo team that somebody can use at once, and nobody else can read."""

from __future__ import annotations

import json
import sqlite3
import stat

import httpx
import pytest

pytestmark = pytest.mark.slow  # starts the whole portal

ROLES = ["owner", "admin", "treasurer", "producer", "producer", "viewer"]


def test_demo_json_says_how_to_sign_in_and_is_for_its_owner_alone(live_portal):
    path = live_portal.var / "demo.json"
    demo = json.loads(path.read_text())

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert set(demo) == {"portal", "sandbox", "people", "accounts"}
    assert [one["role"] for one in demo["people"]] == ROLES
    assert len({one["password"] for one in demo["people"]}) == len(ROLES)


def test_the_secrets_are_random_and_for_their_owner_alone(live_portal):
    path = live_portal.var / "env"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(live_portal.var.stat().st_mode) == 0o700
    assert "SECRET_KEY=" in path.read_text()


def test_the_portal_is_alive_and_ready(live_portal):
    assert httpx.get(f"{live_portal.portal}/healthz").text == "ok\n"
    assert httpx.get(f"{live_portal.portal}/readyz").json() == {"ready": True, "missing": {}}


def test_it_is_opened_by_a_host_name_and_answers_at_its_ip_address_too(live_portal):
    """Browsers make no passkey for an IP address."""
    assert live_portal.portal.startswith("http://localhost:")
    by_address = live_portal.portal.replace("localhost", "127.0.0.1")
    assert httpx.get(f"{by_address}/accounts/login/").status_code == httpx.codes.OK
    assert any(live_portal.portal in line for line in live_portal.lines)


def test_everybody_can_sign_in(live_portal):
    statuses = {person.name: sign_in(live_portal, person) for person in live_portal.people}
    assert statuses == dict.fromkeys(statuses, httpx.codes.FOUND)


def sign_in(live_portal, person):
    with httpx.Client(base_url=live_portal.portal) as browser:
        page = browser.get("/accounts/login/").text
        token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        form = {"login": person.email, "password": person.password, "csrfmiddlewaretoken": token}
        return browser.post("/accounts/login/", data=form).status_code


def test_the_tokens_to_try_open_their_accounts_and_are_not_in_the_portal(live_portal):
    for account in live_portal.accounts:
        bearer = {"Authorization": f"Bearer {account['token']}"}
        profile = httpx.get(f"{live_portal.sandbox}/v2/me", headers=bearer).json()["data"]

        assert profile["email"] == account["email"]
    with sqlite3.connect(live_portal.var / "reelroom.sqlite3") as database:
        stored = database.execute("SELECT last_four FROM proxyapi_token").fetchall()
        accounts = database.execute("SELECT count(*) FROM proxyapi_account").fetchone()[0]
    assert accounts == 1, "three tokens of one account share one row"
    assert len(stored) == 3
    assert not {row[0] for row in stored} & {one["token"][-4:] for one in live_portal.accounts}
