"""The security page: its tab, its parts that refresh themselves, and the rows it is made of."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from dashboard.models import Membership, SignInEvent, SignInOutcome, TeamSecurity
from dashboard.security.views.page import PART_TEMPLATES

ClientOf = Callable[..., Client]


def test_it_is_a_tab_of_the_members_for_owners_and_admins_only(
    mira: Membership, jonas: Membership, thea: Membership, client_of: ClientOf
) -> None:
    for member in (mira, jonas):
        page = client_of(member).get("/members/").content.decode()
        assert '<a href="/security/">Security</a>' in page
    assert "/security/" not in client_of(thea).get("/members/").content.decode()
    assert client_of(thea).get("/security/").status_code == 404


@pytest.mark.parametrize("part", sorted(PART_TEMPLATES))
def test_each_part_refreshes_itself(part: str, mira: Membership, client_of: ClientOf) -> None:
    headers = {"HX-Request": "true", "HX-Target": part}
    page = client_of(mira).get("/security/", headers=headers).content.decode()
    assert f'id="{part}"' in page
    assert "<html" not in page


def test_sign_ins_of_the_members_are_listed_and_equal_refusals_are_one_line(
    mira: Membership, otto: Membership, client_of: ClientOf
) -> None:
    for user, outcome, times in (
        (mira.user, SignInOutcome.SIGNED_IN, 1),
        (mira.user, SignInOutcome.WRONG_PASSWORD, 3),
        (otto.user, SignInOutcome.SIGNED_IN, 1),
    ):
        for _ in range(times):
            SignInEvent.objects.create(
                user=user, address=user.email, outcome=outcome, client_ip="192.0.2.77"
            )
    page = client_of(mira).get("/security/").content.decode()
    assert "wrong password, 3 times, from 192.0.2.77" in page
    assert page.count("from 192.0.2.77") == 2
    assert "Otto" not in page


@pytest.mark.parametrize(
    "fields",
    [
        {"session_hours": 0},
        {"session_hours": 721},
        {"session_idle_minutes": 5},
        {"require_two_factor": True},
    ],
)
def test_the_database_refuses_settings_that_cannot_be(
    fields: dict[str, object], mira: Membership
) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        TeamSecurity.objects.create(team=mira.team, **fields)
