"""The instance page: every team with its members, what it used, and a new one with its owner."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.instance.queries import load_instance
from dashboard.members.actions.invitation_mail import mail_invitation
from dashboard.members.actions.joining import accept_invitation
from dashboard.models import AuditEvent, Invitation, Role, SignInEvent, Team
from proxyapi.models import Charge, ChargeState, Tenant
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    InvitationFactory,
    JobFactory,
    TeamFactory,
    TokenFactory,
    UserFactory,
)

pytestmark = pytest.mark.postgresql

NEW = {"team": "Daybreak", "time_zone": "Europe/Paris", "address": "Ana@Daybreak.example"}


@pytest.fixture
def browser(operator, client_of, monkeypatch):
    monkeypatch.setattr(
        "dashboard.shared.recent_authentication.is_authentication_recent", lambda _: True
    )
    return client_of(operator)


def row_of(name):
    return next(row for row in load_instance()["teams"] if row["team"].name == name)


def make_charge(member, cost, created_at, **fields):
    account = AccountFactory.create(tenant=member.team.tenant)
    token = TokenFactory.create(account=account, owner=member.user)
    job = JobFactory.create(account=account, token=token, state="completed", remote_id="7")
    fields |= {"state": ChargeState.CONFIRMED, "sent_at": created_at}
    charge = ChargeFactory.create(job=job, cost=Decimal(cost), **fields)
    Charge.objects.filter(pk=charge.pk).update(created_at=created_at)


def test_each_team_is_listed_with_members_and_use(operator, priya, otto, client_of):
    make_charge(priya, 96, timezone.now())
    row = row_of("Northlight")
    assert [str(member.user) for member in row["members"]] == ["Mira Sandvik", "Priya Raman"]
    assert (row["credits"], row["videos"], row["state"]) == (Decimal(96), 1, "completed")
    assert (row_of("Otherwhere")["credits"], row_of("Otherwhere")["videos"]) == (0, 0)
    page = client_of(operator).get(reverse("instance")).content.decode()
    assert "2 teams, 3 people." in page
    assert "Credits count the portal’s charges since the first of the month" in page
    assert "Otto Fremd" in page


def test_the_month_of_a_team_starts_in_its_time_zone(operator, otto, time_machine):
    """It is December in Auckland and November in Berlin."""
    time_machine.move_to(datetime(2026, 11, 30, 12, 0, tzinfo=UTC), tick=False)
    Tenant.objects.filter(pk=otto.team.tenant_id).update(time_zone="Pacific/Auckland")
    for member in (operator, otto):
        make_charge(member, 96, timezone.now() - timedelta(hours=2))
        make_charge(member, 42, timezone.now() - timedelta(minutes=30))
    assert (row_of("Northlight")["credits"], row_of("Otherwhere")["credits"]) == (138, 42)


def test_a_refunded_charge_is_not_counted(operator):
    now = timezone.now()
    make_charge(operator, 96, now, refund_owed_at=now, refunded_at=now)
    assert row_of("Northlight")["credits"] == 0


def test_the_page_takes_the_same_queries_for_one_team_and_for_many(
    operator, django_assert_num_queries
):
    load_instance()
    with django_assert_num_queries(9):
        load_instance()


@pytest.fixture
def five_teams(operator):
    for name in ("Daybreak", "Harbour", "Lantern", "Quarry"):
        TeamFactory.create(name=name)


def names_of(page):
    """The listed teams; the name of the reader's own team is in the menus as well."""
    table = page.split('id="instance-teams"')[1].split("</table>")[0]
    return re.findall(r'<span class="table__main"><bdi>([^<]*)</bdi>', table)


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("harb", ["Harbour"]),
        ("mira@northlight", ["Northlight"]),
        ("SANDVIK north", ["Northlight"]),
        ("ana@quarry", ["Quarry"]),
        ("nothing", []),
    ],
)
def test_teams_are_found_by_their_names_and_those_of_their_people(
    search, names, five_teams, operator, client_of
):
    quarry = Team.objects.get(name="Quarry")
    address = {"address": "ana@quarry.example", "role": Role.OWNER, "founds_team": True}
    InvitationFactory.create(team=quarry, **address)
    page = client_of(operator).get(reverse("instance"), {"q": search}).content.decode()
    assert names_of(page) == names
    assert ("No team matches this search." in page) == (not names)
    assert "5 teams, one person." in page
    assert f'value="{search}"' in page


def test_the_part_that_refreshes_keeps_the_search(five_teams, operator, client_of):
    part = client_of(operator).get(reverse("instance"), {"part": "body", "q": "harb"})
    assert names_of(part.content.decode()) == ["Harbour"]
    assert 'hx-include="#team-search"' in part.content.decode()


def test_few_teams_need_no_search(operator, client_of):
    page = client_of(operator).get(reverse("instance")).content.decode()
    assert "team-search" not in page


def test_the_processes_refresh_alone(operator, priya, client_of):
    address = {"path": reverse("instance"), "data": {"part": "processes"}}
    part = client_of(operator).get(**address).content.decode()
    assert part.lstrip().startswith('<section class="card" id="ops-processes"')
    assert 'hx-get="/instance/?part=processes"' in part
    assert "Database" in part and "Disk" in part
    assert client_of(priya).get(**address).status_code == 404


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        ("smtp", "mail.example:587"),
        ("console", "No e-mail is sent: each is written to the log."),
    ],
)
def test_the_mail_server_is_shown_without_its_password(
    backend, words, operator, client_of, settings
):
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{backend}.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "mail.example", 587
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "postmaster", "hunter2"
    page = client_of(operator).get(reverse("instance")).content.decode()
    assert words in page
    assert "postmaster" not in page and "hunter2" not in page


def test_the_sign_ins_of_operators_are_shown_and_nobody_elses(operator, priya, client_of):
    for member, client_ip in ((operator, "203.0.113.7"), (priya, "203.0.113.8")):
        SignInEvent.objects.create(
            user=member.user, address=member.user.email, outcome="signed_in", client_ip=client_ip
        )
    page = client_of(operator).get(reverse("instance")).content.decode()
    assert "signed in, from 203.0.113.7" in page
    assert "203.0.113.8" not in page


def test_a_team_is_created_and_its_first_owner_invited(browser, operator):
    assert browser.post(reverse("instance-teams"), NEW).url == reverse("instance")
    team = Team.objects.get(name="Daybreak")
    assert (team.tenant.time_zone, team.memberships.count()) == ("Europe/Paris", 0)
    assert team.alert_rules.exists()
    invitation = Invitation.objects.get()
    assert (invitation.address, invitation.role) == ("ana@daybreak.example", Role.OWNER)
    event = AuditEvent.objects.get(team_id=team.pk)
    assert (event.action, event.actor_name) == ("team.create", "Mira Sandvik")
    row = row_of("Daybreak")
    assert (row["state"], row["invited"]) == ("waiting", "ana@daybreak.example")


def test_the_invited_owner_joins_by_the_link(browser):
    browser.post(reverse("instance-teams"), NEW)
    mail_invitation(Invitation.objects.get().pk)
    assert mail.outbox[0].to == ["ana@daybreak.example"]
    ana = UserFactory.create(email="ana@daybreak.example")
    membership = accept_invitation(invitation=Invitation.objects.get(), user=ana)
    assert (membership.team.name, membership.role) == ("Daybreak", Role.OWNER)
    assert row_of("Daybreak")["state"] == "completed"


def test_the_first_owner_gets_a_new_link_until_they_join(browser):
    browser.post(reverse("instance-teams"), NEW)
    team = Team.objects.get(name="Daybreak")
    Invitation.objects.update(mail_due_at=None, mail_sent_at=timezone.now())
    resend = reverse("team-invitations", args=[team.pk])
    assert browser.post(resend).url == reverse("instance")
    assert Invitation.objects.get().mail_due_at is not None
    ana = UserFactory.create(email="ana@daybreak.example")
    accept_invitation(invitation=Invitation.objects.get(), user=ana)
    assert "has an owner already" in browser.post(resend, follow=True).content.decode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"team": "Northlight"}, "a unique name"),
        ({"team": " "}, "Enter a team."),
        ({"address": "ana"}, "Enter an e-mail address"),
        ({"time_zone": "Mars"}, "This time zone does not exist."),
    ],
)
def test_a_wrong_field_creates_nothing_and_is_named(browser, change, words):
    page = browser.post(reverse("instance-teams"), NEW | change)
    assert page.status_code == 422
    assert words in page.content.decode()
    assert Team.objects.count() == 1


def test_a_portal_without_mail_creates_no_team(browser, settings):
    settings.PASSWORD_RESET_BY_EMAIL = False
    assert "sends no e-mail" in browser.get(reverse("instance-teams")).content.decode()
    browser.post(reverse("instance-teams"), NEW)
    assert Team.objects.count() == 1


def test_ownership_is_given_by_no_other_link(operator):
    with pytest.raises(IntegrityError), transaction.atomic():
        InvitationFactory.create(team=operator.team, role=Role.OWNER)
