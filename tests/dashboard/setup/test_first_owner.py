"""The first run: nothing but the set-up, one code, one owner."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEvent, InstallationSetup, Role, SignInEvent, Team, User
from tests.dashboard.setup.conftest import print_code

SETUP = "/setup/"


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/members/", "/tokens/", "/nowhere/"])
def test_without_a_user_every_page_leads_to_the_set_up(client, path):
    assert client.get(path).url == SETUP
    assert client.post(path).url == SETUP


def test_what_watches_over_the_process_is_answered_before_the_set_up(client):
    assert client.get("/healthz").status_code == 200


def test_the_first_owner_is_made_with_the_code_and_signed_in(client, entered):
    page = client.post(SETUP, entered, follow=True)
    assert page.redirect_chain == [(SETUP, 302)]
    assert "Connect the service" in page.content.decode()
    user = User.objects.get()
    assert (user.email, user.name) == ("mira@northlight.example", "Mira Sandvik")
    assert user.is_superuser
    assert user.check_password(entered["password"])
    team = Team.objects.get()
    assert (team.name, team.tenant.time_zone) == ("Northlight", "Europe/Stockholm")
    assert team.memberships.get(user=user).role == Role.OWNER
    assert team.alert_rules.exists()
    assert SignInEvent.objects.filter(user=user, outcome="signed_in").exists()
    event = AuditEvent.objects.get(action="team.create")
    assert (event.actor_name, event.after["operator"]) == ("Mira Sandvik", True)


def test_a_code_is_read_as_people_type_it(client, entered):
    code = f" {entered['code'].lower().replace('-', ' ')} "
    assert client.post(SETUP, entered | {"code": code}).status_code == 302


@pytest.mark.parametrize("code", ["AAAA-AAAA", "", "-", "x" * 40])
def test_a_wrong_code_makes_nobody_and_keeps_what_was_entered(client, entered, code):
    page = client.post(SETUP, entered | {"code": code})
    assert page.status_code == 422
    assert 'value="Northlight"' in page.content.decode()
    assert entered["password"] not in page.content.decode()
    assert not User.objects.exists()
    assert not Team.objects.exists()


def test_a_new_code_ends_the_one_before(client, entered):
    new = print_code()
    assert client.post(SETUP, entered).status_code == 422
    assert client.post(SETUP, entered | {"code": new}).status_code == 302


def test_a_code_ends_after_a_day(client, entered):
    made_at = timezone.now() - timedelta(hours=24, seconds=1)
    InstallationSetup.objects.update(code_made_at=made_at)
    page = client.post(SETUP, entered)
    assert "older than a day" in page.content.decode()
    assert not User.objects.exists()


def test_ten_attempts_a_minute_are_allowed(client, entered):
    for _ in range(10):
        client.post(SETUP, entered | {"code": "AAAA-AAAA"})
    page = client.post(SETUP, entered)
    assert "Too many attempts" in page.content.decode()
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("password", "short"),
        ("password", "password1234"),
        ("email", "mira"),
        ("team", ""),
        ("team", "North\u202elight"),
        ("name", " "),
        ("time_zone", "Mars/Olympus"),
    ],
)
def test_a_field_that_cannot_be_right_is_named_and_uses_up_no_code(client, entered, field, value):
    page = client.post(SETUP, entered | {field: value})
    assert page.status_code == 422
    assert f'id="id_{field}_error"' in page.content.decode()
    assert client.post(SETUP, entered).status_code == 302


def test_only_the_slow_hash_of_the_code_is_stored(code):
    row = InstallationSetup.objects.get()
    assert code not in row.code_hash
    assert code.replace("-", "") not in row.code_hash
    assert row.accepts_code(code)


def test_whoever_comes_second_is_told_that_it_is_done(client, entered):
    client.post(SETUP, entered)
    stranger = Client()
    for page in (stranger.get(SETUP), stranger.post(SETUP, entered)):
        assert page.status_code == 410
        assert "This installation is set up already." in page.content.decode()
    assert User.objects.count() == 1


def test_a_used_code_is_gone_and_no_new_one_is_made(client, entered):
    client.post(SETUP, entered)
    assert InstallationSetup.objects.get().code_hash == ""
    with pytest.raises(CommandError, match="set up already"):
        call_command("create_setup_code")


def test_the_database_keeps_one_row_and_no_code_of_a_set_up_installation(code):
    with pytest.raises(IntegrityError), transaction.atomic():
        InstallationSetup.objects.create(pk=2, code_made_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        InstallationSetup.objects.update(owner_created_at=timezone.now())


def test_an_installation_with_people_needs_no_set_up(client, mira, client_of):
    assert client.get(SETUP).status_code == 410
    assert client.get("/").url == f"{reverse('account_login')}?next=/"
    assert client_of(mira).get(SETUP).status_code == 410
