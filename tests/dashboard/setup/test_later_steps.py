"""After the owner: the first token, invitations, and the end of the set-up."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.models import InstallationSetup, Invitation
from dashboard.shared.setup_required import SetupRequiredMiddleware
from proxyapi import tasks, tokens
from proxyapi.models import Token
from proxyapi.refusals import TokenRefused

SETUP = "/setup/"
VALUE = "sbx_canary_of_the_set_up_0000_5b36"
PAID = {
    "id": 77,
    "name": "Northlight Studio",
    "email": "studio@northlight.example",
    "email_verified": True,
    "subscription": {"active": True, "trial": False, "plan": "Studio"},
    "credits": {"total": 12000, "remaining": 12000},
}
TRIAL = PAID | {"subscription": {"active": True, "trial": True, "plan": "Studio trial"}}
LAPSED = PAID | {"subscription": {"active": False, "trial": False, "plan": None}}
UNCONFIRMED = PAID | {"email_verified": False}


@pytest.fixture
def owner(client, entered):
    """The browser of the first owner, after the first step."""
    client.post(SETUP, entered)
    return client


@pytest.fixture
def profile(monkeypatch):
    """What the service answers to a token, once for each press."""
    answer, asked = dict(PAID), []

    def fetch(token, secret):
        asked.append(secret)
        return answer

    monkeypatch.setattr(tokens, "fetch_profile", fetch)
    return answer, asked


def connect(browser, **fields):
    form = {"uses": "token", "token": VALUE} | fields
    return browser.post(reverse("setup-tokens"), form, follow=True)


def test_the_token_is_checked_once_and_the_account_is_named(owner, profile):
    page = connect(owner).content.decode()
    assert "Connected to Northlight Studio." in page
    assert "12,000 cr of 12,000 left, 30 requests a minute." in page
    assert VALUE not in page
    assert len(profile[1]) == 1
    assert Token.objects.get().owner.email == "mira@northlight.example"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (TRIAL, "renders nothing for a trial"),
        (LAPSED, "has no active plan"),
        (UNCONFIRMED, "has not confirmed studio@northlight.example yet"),
    ],
)
def test_an_account_that_cannot_render_yet_is_said_and_may_go_on(owner, profile, answer, words):
    profile[0].update(answer)
    page = connect(owner).content.decode()
    assert words in page
    assert "?step=team" in page


def test_the_account_is_read_again_by_a_worker(owner, profile, monkeypatch):
    connect(owner)
    asked = []
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: asked.append(id))
    page = owner.post(reverse("setup-checks"), follow=True)
    assert asked == [Token.objects.get().account_id]
    assert "Asking the service" in page.content.decode()
    assert page["Refresh"] == f"3;url={SETUP}?step=service"
    assert "Refresh" not in owner.get(SETUP)


def test_a_token_that_the_service_does_not_know_stays_on_the_step(owner, monkeypatch):
    def refuse(token, secret):
        raise TokenRefused("The service does not recognize this token.", field="token")

    monkeypatch.setattr(tokens, "fetch_profile", refuse)
    page = connect(owner)
    assert page.status_code == 422
    assert "does not recognize this token" in page.content.decode()
    assert not Token.objects.exists()


def test_the_sandbox_gives_an_account_by_itself(owner, profile, monkeypatch):
    made = []

    def create(admin, fields):
        made.append(json.loads(json.dumps(fields)))
        return {"token": VALUE}

    monkeypatch.setattr(SandboxAdmin, "create_account", create)
    page = connect(owner, uses="sandbox", token="").content.decode()
    assert "Connected to" in page
    assert made[0]["name"] == "Northlight"


def test_a_silent_sandbox_is_said(owner, monkeypatch):
    def fail(admin, fields):
        raise ConnectionRefusedError

    monkeypatch.setattr(SandboxAdmin, "create_account", fail)
    page = connect(owner, uses="sandbox", token="")
    assert page.status_code == 422
    assert "The sandbox does not answer." in page.content.decode()


def test_without_the_sandbox_there_is_no_choice(owner, profile, settings):
    settings.VIDEO_API_IS_SANDBOX = False
    page = owner.get(SETUP).content.decode()
    assert "Use the sandbox" not in page
    assert settings.VIDEO_API_BASE_URL in page
    empty = connect(owner, uses="sandbox", token="")
    assert "Paste your token here." in empty.content.decode()


def test_invitations_end_the_set_up(owner):
    form = {"addresses": "jonas@northlight.example priya@northlight.example", "role": "producer"}
    page = owner.post(reverse("setup-invitations"), form)
    assert page.url == reverse("overview")
    assert Invitation.objects.filter(role="producer").count() == 2
    assert InstallationSetup.objects.get().completed_at
    assert owner.get(SETUP).status_code == 410


def test_a_wrong_address_sends_nothing_and_is_named(owner):
    page = owner.post(reverse("setup-invitations"), {"addresses": "jonas", "role": "producer"})
    assert page.status_code == 422
    assert "jonas is not an e-mail address." in page.content.decode()
    assert InstallationSetup.objects.get().completed_at is None


def test_addresses_that_are_not_invited_keep_the_set_up_open(owner):
    form = {"addresses": "jonas priya@northlight.example", "role": "producer"}
    page = owner.post(reverse("setup-invitations"), form).content.decode()
    assert "priya@northlight.example gets an invitation." in page
    assert "jonas is not an e-mail address." in page
    assert Invitation.objects.get().address == "priya@northlight.example"
    assert InstallationSetup.objects.get().completed_at is None


def test_the_set_up_may_end_without_invitations(owner):
    assert owner.post(reverse("setup-completions")).url == reverse("overview")
    for name in ("setup-tokens", "setup-checks", "setup-invitations", "setup-completions"):
        assert owner.post(reverse(name)).status_code == 410


def test_a_portal_without_mail_offers_no_invitation(owner, settings):
    settings.PASSWORD_RESET_BY_EMAIL = False
    page = owner.get(f"{SETUP}?step=team").content.decode()
    assert "This portal sends no e-mail." in page
    form = {"addresses": "jonas@northlight.example", "role": "producer"}
    assert owner.post(reverse("setup-invitations"), form).status_code == 422
    assert not Invitation.objects.exists()


def test_nobody_else_sees_the_steps(owner, otto, client_of, monkeypatch):
    monkeypatch.setattr(SetupRequiredMiddleware, "has_users", True)
    other = client_of(otto)
    assert other.get(SETUP).status_code == 410
    assert connect(other).status_code == 410
