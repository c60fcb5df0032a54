"""The ownership of a team is transferred: asked, accepted, declined, taken back, lapsed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.members.actions.ownership import (
    accept_ownership,
    request_ownership_transfer,
    take_ownership_back,
)
from dashboard.members.actions.removal import remove_member
from dashboard.members.actions.roles import change_member_role
from dashboard.models import AlertEvent, AuditEvent, Delivery, Membership, OwnershipTransfer, Role
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.members.conftest import PASSWORD
from tests.dashboard.security.people import give_second_factor
from tests.factories import MembershipFactory

ClientOf = Callable[..., Client]


@pytest.fixture(autouse=True)
def _have_second_factors(mira: Membership, jonas: Membership, vera: Membership) -> None:
    give_second_factor(mira, jonas, vera)


@pytest.fixture
def transfer(mira: Membership, jonas: Membership) -> OwnershipTransfer:
    """Mira asked Jonas."""
    return request_ownership_transfer(by=mira, to=jonas)


def roles_of(*members: Membership) -> list[str]:
    for member in members:
        member.refresh_from_db()
    return [member.role for member in members]


def press(browser: Client, name: str, transfer: OwnershipTransfer, **form: str) -> Any:
    return browser.post(reverse(name, args=[transfer.pk]), form, follow=True)


def test_nothing_changes_before_the_new_owner_accepts(
    mira: Membership, jonas: Membership, confirmed_client_of: ClientOf
) -> None:
    owner, admin = confirmed_client_of(mira), confirmed_client_of(jonas)
    assert owner.post(reverse("ownership-transfers"), {"to": jonas.pk}).status_code == 302
    assert roles_of(mira, jonas) == [Role.OWNER, Role.ADMIN]
    assert "Waiting for <bdi>Jonas Weber</bdi>" in (owner.get(reverse("members")).content.decode())
    assert "asks you to become owner" in admin.get(reverse("members")).content.decode()
    mails = set(Delivery.objects.values_list("address", flat=True))
    assert mails == {mira.user.email, jonas.user.email}
    press(admin, "ownership-acceptances", OwnershipTransfer.objects.get())
    assert roles_of(mira, jonas) == [Role.ADMIN, Role.OWNER]
    assert Delivery.objects.count() == 4
    actions = AuditEvent.objects.order_by("position").values_list("action", flat=True)
    assert list(actions) == ["ownership.request", "ownership.accept"]


@pytest.mark.parametrize("name", ["ownership-transfers", "ownership-acceptances"])
def test_asking_and_accepting_need_a_recent_password(
    name: str, mira_has_password: Membership, jonas: Membership, client_of: ClientOf
) -> None:
    mira, url = mira_has_password, reverse("ownership-transfers")
    form: dict[str, Any] = {"to": jonas.pk}
    if name == "ownership-acceptances":
        other = MembershipFactory.create(team=mira.team, role=Role.OWNER)
        transfer = request_ownership_transfer(by=other, to=jonas)
        OwnershipTransfer.objects.update(to_user=mira.user)
        url, form = reverse(name, args=[transfer.pk]), {}
    browser = client_of(mira)
    assert "Your password" in browser.get(url).content.decode()
    assert browser.post(url, form).status_code == 422
    assert browser.post(url, form | {"password": PASSWORD}).status_code == 302


def test_the_new_owner_declines_and_the_owner_is_told(
    transfer: OwnershipTransfer, mira: Membership, jonas: Membership, client_of: ClientOf
) -> None:
    press(client_of(jonas), "ownership-refusals", transfer)
    assert roles_of(mira, jonas) == [Role.OWNER, Role.ADMIN]
    told = AlertEvent.objects.filter(member=mira.user).latest("happened_at")
    assert told.title == "Jonas Weber declined to become owner of Northlight"
    with pytest.raises(StaleData):
        accept_ownership(by=jonas, transfer=transfer)


def test_an_owner_takes_it_back(
    transfer: OwnershipTransfer,
    mira: Membership,
    jonas: Membership,
    client_of: ClientOf,
    confirmed_client_of: ClientOf,
) -> None:
    browser = client_of(mira)
    assert "Withdraw transfer" in browser.get(reverse("members")).content.decode()
    page = press(browser, "ownership-withdrawals", transfer)
    assert "The transfer was withdrawn." in page.content.decode()
    admin = confirmed_client_of(jonas)
    assert press(admin, "ownership-acceptances", transfer).status_code == 404
    assert "asks you" not in admin.get(reverse("members")).content.decode()
    assert roles_of(mira, jonas) == [Role.OWNER, Role.ADMIN]


@pytest.mark.parametrize("ending", ["time", "giver lost the role", "receiver left"])
def test_it_lapses_and_another_one_can_be_asked(
    ending: str, transfer: OwnershipTransfer, mira: Membership, jonas: Membership, vera: Membership
) -> None:
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    now = timezone.now()
    if ending == "time":
        now += timedelta(days=7, seconds=1)
    elif ending == "receiver left":
        remove_member(jonas, by=mira)
    else:
        change_member_role(by=second, member=mira, role=Role.VIEWER)
    with time_machine.travel(now):
        with pytest.raises(StaleData):
            accept_ownership(by=jonas, transfer=transfer)
        request_ownership_transfer(by=second, to=vera)
    transfer.refresh_from_db()
    assert transfer.state == "lapsed"


def test_one_transfer_at_a_time(
    transfer: OwnershipTransfer, mira: Membership, vera: Membership, confirmed_client_of: ClientOf
) -> None:
    response = confirmed_client_of(mira).post(reverse("ownership-transfers"), {"to": vera.pk})
    assert response.status_code == 422
    assert "Jonas Weber was asked already." in response.content.decode()
    with pytest.raises(IntegrityError), transaction.atomic():
        OwnershipTransfer.objects.create(
            team=mira.team, from_user=mira.user, to_user=vera.user, expires_at=timezone.now()
        )


@pytest.mark.parametrize(
    ("who", "acceptance", "withdrawal"),
    [("mira", 403, 302), ("thea", 403, 403), ("priya", 403, 403), ("otto", 404, 404)],
)
def test_only_the_receiver_answers_and_only_an_owner_takes_it_back(
    who: str,
    acceptance: int,
    withdrawal: int,
    request: Any,
    transfer: OwnershipTransfer,
    confirmed_client_of: ClientOf,
) -> None:
    browser = confirmed_client_of(request.getfixturevalue(who))
    for name, status in (
        ("ownership-acceptances", acceptance),
        ("ownership-refusals", acceptance),
        ("ownership-withdrawals", withdrawal),
    ):
        assert browser.post(reverse(name, args=[transfer.pk])).status_code == status


@pytest.mark.parametrize("chosen", ["otto", "mira", "nobody"])
def test_only_another_member_of_the_team_is_asked(
    chosen: str, request: Any, mira: Membership, jonas: Membership, confirmed_client_of: ClientOf
) -> None:
    to = "0" if chosen == "nobody" else request.getfixturevalue(chosen).pk
    response = confirmed_client_of(mira).post(reverse("ownership-transfers"), {"to": to})
    assert response.status_code == 422
    assert not OwnershipTransfer.objects.exists()


def test_only_who_has_a_second_factor_becomes_owner(
    mira: Membership, jonas: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    owner, url = confirmed_client_of(mira), reverse("ownership-transfers")
    page = owner.get(url).content.decode()
    assert "Jonas Weber" in page
    assert "Priya Raman" not in page.partition('id="ownership-transfer"')[2]
    assert owner.post(url, {"to": priya.pk}).status_code == 422
    with pytest.raises(Refusal, match="has no two-factor"):
        request_ownership_transfer(by=mira, to=priya)
    transfer = request_ownership_transfer(by=mira, to=jonas)
    Authenticator.objects.all().delete()
    answer = confirmed_client_of(jonas).post(reverse("ownership-acceptances", args=[transfer.pk]))
    assert "Set up two-factor sign-in on your account page first." in answer.content.decode()
    assert roles_of(mira, jonas) == [Role.OWNER, Role.ADMIN]
    take_ownership_back(by=mira, transfer=transfer)
    assert "nobody has set it up yet" in owner.get(url).content.decode()


def test_who_is_alone_invites_somebody_first(
    mira: Membership, jonas: Membership, vera: Membership, client_of: ClientOf
) -> None:
    Membership.objects.exclude(pk=mira.pk).delete()
    page = client_of(mira).get(reverse("ownership-transfers")).content.decode()
    assert "There is nobody else in the team." in page
