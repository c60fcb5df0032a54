"""Sign in with single sign-on at a real provider: join, keep the role of the groups, come back."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from dashboard.account.sign_in_history import append_sign_ins_to_audit
from dashboard.models import AlertEvent, AuditEvent, NewMemberBudget, SignInEvent, User
from dashboard.monitoring.log_format import redact_text
from dashboard.shared.openid.session_teams import OUTLIVES_SESSION
from dashboard.single_sign_on.queries import find_single_sign_on
from proxyapi.refusals import Refusal
from tests.dashboard.single_sign_on.conftest import (
    come_back,
    create_single_sign_on,
    provider_url,
    start,
)
from tests.factories import MembershipFactory

pytestmark = pytest.mark.postgresql

SAM = "sam.okafor@northlight.example"


def test_who_joins_starts_with_the_budget_for_new_members(
    sign_in_at_provider, northlight, mira, client
):
    NewMemberBudget.objects.create(team=northlight, hard=500, set_by=mira.user)
    sign_in_at_provider(client, SAM, groups=["studio"])
    budget = northlight.budgets.get()
    assert (budget.member.email, budget.period, budget.hard) == (SAM, "month", 500)
    sign_in_at_provider(client, SAM, groups=["studio"])
    assert northlight.budgets.count() == 1


def test_a_person_of_a_group_joins_with_its_role_and_is_signed_in(
    sign_in_at_provider, northlight, client
):
    page = sign_in_at_provider(client, SAM, groups=["staff", "studio", "finance"])
    assert page.redirect_chain == [("/", 302)]
    member = northlight.memberships.get(user__email=SAM)
    assert (str(member.user), member.role) == ("Sam Okafor", "treasurer")  # the first match
    assert not member.user.has_usable_password()
    assert client.get(reverse("members")).status_code == 200
    event = AuditEvent.objects.get(action="single_sign_on.join")
    assert (event.actor_name, event.after) == (
        "Sam Okafor",
        {"address": SAM, "role": "treasurer"},
    )
    assert AlertEvent.objects.get().title == "Sam Okafor joined Northlight"


def test_a_sign_in_is_in_the_history_and_in_the_audit_log(sign_in_at_provider, client, northlight):
    sign_in_at_provider(client, SAM, groups="studio")
    event = SignInEvent.objects.get()
    assert (event.outcome, event.method) == ("signed_in", "single sign-on")
    append_sign_ins_to_audit()
    entry = AuditEvent.objects.get(action="sign_in")
    assert (entry.team_id, entry.details["method"]) == (northlight.pk, "single sign-on")


def test_the_role_follows_the_groups_at_each_sign_in(sign_in_at_provider, client, northlight):
    sign_in_at_provider(client, SAM, groups=["studio"])
    sign_in_at_provider(Client(), SAM.upper(), groups=["video-admins", "studio"])
    member = northlight.memberships.get(user__email=SAM)
    assert member.role == "admin"
    entry = AuditEvent.objects.get(action="member.role")
    assert (entry.before, entry.after) == ({"role": "producer"}, {"role": "admin"})
    assert (entry.actor_name, entry.details) == ("Single sign-on", {"person": "Sam Okafor"})
    sign_in_at_provider(Client(), SAM, groups=["studio"])
    member.refresh_from_db()
    assert member.role == "producer"
    assert User.objects.filter(email=SAM).count() == 1


def test_an_owner_stays_owner_whatever_the_groups_say(sign_in_at_provider, client, mira):
    sign_in_at_provider(client, mira.user.email, groups=["studio"])
    mira.refresh_from_db()
    assert mira.role == "owner"
    assert client.get(reverse("members")).status_code == 200


def test_without_a_listed_group_the_default_role_counts(
    sign_in_at_provider, single_sign_on, client, northlight
):
    single_sign_on.default_role = "viewer"
    single_sign_on.save()
    sign_in_at_provider(client, SAM, groups=["renamed-studio"])
    assert northlight.memberships.get(user__email=SAM).role == "viewer"


def test_groups_are_also_read_from_another_claim(
    sign_in_at_provider, single_sign_on, client, northlight
):
    single_sign_on.groups_claim = "roles"
    single_sign_on.save()
    sign_in_at_provider(client, SAM, roles=["finance"], groups=["video-admins"])
    assert northlight.memberships.get(user__email=SAM).role == "treasurer"


@pytest.fixture
def allowed_domain(northlight):
    """The operator let addresses of northlight.example lead to Northlight."""
    call_command("allow_sign_in_domain", "Northlight", "Northlight.example", stdout=StringIO())


def test_a_member_of_another_team_does_not_lead_a_domain_away(single_sign_on, allowed_domain, otto):
    """With single sign-on of its own, and a member who has an address of the domain."""
    create_single_sign_on(otto.team, "https://elsewhere.example")
    MembershipFactory.create(team=otto.team, user__email="spy@northlight.example")
    assert find_single_sign_on("mira@NORTHLIGHT.example") == single_sign_on
    with pytest.raises(CommandError, match="leads to Northlight"):
        call_command("allow_sign_in_domain", otto.team.name, "northlight.example")
    call_command("allow_sign_in_domain", "--revoke", "Northlight", "northlight.example")
    with pytest.raises(Refusal, match="No team signs in"):
        find_single_sign_on("mira@northlight.example")
    changes = AuditEvent.objects.filter(action="single_sign_on.change").order_by("position")
    assert [(row.after, row.before) for row in changes] == [
        ({"sign_in_domain": "northlight.example"}, {}),
        ({}, {"sign_in_domain": "northlight.example"}),
    ]


def test_the_e_mail_address_leads_to_the_provider_and_back_to_the_page(
    single_sign_on, provider, client, mira, allowed_domain
):
    provider.add_person("mira", email="mira@northlight.example", email_verified=True)
    form = {"address": "Mira@Northlight.example", "next": "/tokens/"}
    url = provider_url(client.post(reverse("single-sign-on"), form))
    answer = come_back(client, provider.approve(url, "mira"))
    assert (answer.status_code, answer.url) == (302, "/tokens/")


def test_a_known_and_an_unknown_address_of_a_domain_get_the_same_answer(
    single_sign_on, mira, allowed_domain
):
    answers = []
    for address in ("mira@northlight.example", "nobody@northlight.example"):
        answer = Client().post(reverse("single-sign-on"), {"address": address})
        answers.append((answer.status_code, answer.content.decode().count(single_sign_on.host)))
    assert answers[0] == answers[1]
    assert answers[0][0] == 200


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("otto@elsewhere.example", "No team signs in with single sign-on for elsewhere.example."),
        ("nonsense", "Enter an e-mail address"),
        ("", "Enter your e-mail address."),
    ],
)
def test_an_address_without_single_sign_on_is_told_so(single_sign_on, client, address, sentence):
    answer = client.post(reverse("single-sign-on"), {"address": address})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert f'value="{address}"' in answer.content.decode() or not address


def test_the_provider_gets_a_challenge_and_never_the_verifier(single_sign_on, client):
    url = start(client, single_sign_on)
    (pending,) = client.session["openid_authorizations"]
    assert "code_challenge_method=S256" in url
    assert "scope=openid+email+profile" in url
    assert pending["verifier"] not in url
    assert pending["state"] in url
    assert pending["nonce"] in url


def test_the_log_does_not_show_the_code_of_the_provider():
    line = "GET /accounts/oidc/callback/?code=d8ab8Uo6vdSxo2gx&state=x 200"
    assert redact_text(line) == "GET /accounts/oidc/callback/?[redacted] 200"


def test_whoever_controls_the_provider_adds_no_other_way_into_the_account(
    sign_in_at_provider, client, northlight
):
    """A passkey or another address would open the person's other teams too."""
    sign_in_at_provider(client, SAM, groups=["studio"])
    answer = client.get(reverse("passkeys"), follow=True)
    assert answer.redirect_chain == [(reverse("account"), 302)]
    assert OUTLIVES_SESSION in answer.content.decode()
    typed = {"name": "Sam Okafor", "email": "else@northlight.example"}
    page = client.post(reverse("account-profile"), typed)
    assert page.status_code == 302
    assert User.objects.get(email=SAM).pending_email == ""
