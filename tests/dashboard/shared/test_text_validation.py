"""Titles, names and notes hold no character that nobody sees and that changes what is read."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership, Team, User
from dashboard.shared.text_validation import (
    INVISIBLE_CHARACTER,
    clean_line,
    validate_line,
    validate_lines,
)
from dashboard.top_up.forms import CreditPackForm
from proxyapi.models import Job
from proxyapi.refusals import Refusal
from tests.cases import each_case
from tests.factories import AccountFactory, JobFactory, TokenFactory

ClientOf = Callable[[Membership], Client]
CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
DIRECTIONS = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
TURNED = "Invoice \u202egnp.exe"
SEEN = ["Grüße — “Ünïcödé”", "سلام דנה", "👩\u200d🎓 at 9 am", "a\u200eb", "中文"]


@each_case("code", [*CONTROLS, *DIRECTIONS, 0x2028, 0x2029])
def test_what_nobody_sees_is_refused_in_one_line(code: int) -> None:
    with pytest.raises(ValidationError, match=INVISIBLE_CHARACTER):
        validate_line(f"a{chr(code)}b")


@each_case("code", [*CONTROLS, *DIRECTIONS])
def test_a_script_keeps_its_line_breaks_and_tabs_and_nothing_else(code: int) -> None:
    if chr(code) in "\n\t\r":
        validate_lines(f"a{chr(code)}b")
    else:
        with pytest.raises(ValidationError, match=INVISIBLE_CHARACTER):
            validate_lines(f"a{chr(code)}b")


@pytest.mark.parametrize("text", SEEN)
def test_every_script_of_the_world_passes(text: str) -> None:
    validate_line(text)
    validate_lines(text)
    assert clean_line(f" {text}\n", max_length=300, field="note") == text


def test_a_note_is_refused_with_its_field() -> None:
    with pytest.raises(Refusal, match=INVISIBLE_CHARACTER) as refusal:
        clean_line(TURNED, max_length=300, field="answer")
    assert refusal.value.field == "answer"


@pytest.mark.parametrize(
    "turned",
    [
        {"start": TURNED},
        {"read_as": "script", "start": f"One line.\n{TURNED}"},
        {"start": "Be\x1bes"},
    ],
)
def test_a_new_video_is_not_made_of_it(
    turned: dict[str, str], priya: Membership, client_of: ClientOf
) -> None:
    TokenFactory.create(owner=priya.user, account__tenant=priya.team.tenant)
    new = {"start": "How bees vote", **turned}
    page = client_of(priya).post(reverse("drafts"), new)
    assert page.status_code == 422
    assert page.content.decode().count(INVISIBLE_CHARACTER) == 1
    assert not Job.objects.exists()


def test_a_script_of_several_lines_is_kept(priya: Membership, client_of: ClientOf) -> None:
    TokenFactory.create(owner=priya.user, account__tenant=priya.team.tenant)
    new = {"read_as": "script", "start": "One.\r\n\tTwo."}
    assert client_of(priya).post(reverse("drafts"), new).status_code == 302
    assert Job.objects.get().draft.settings["script"] == "One.\n\tTwo."


def test_a_credit_pack_is_not_named_so() -> None:
    form = CreditPackForm({"plan_id": 3, "name": TURNED, "credits": 500})
    assert form.errors == {"name": [INVISIBLE_CHARACTER]}


@pytest.mark.parametrize(
    "command",
    [
        ("add_member", "Northlight", "nora@northlight.example", TURNED),
        ("create_team", "Elsewhere", "nora@northlight.example", TURNED),
        ("create_team", TURNED, "nora@northlight.example", "Nora Berg"),
    ],
)
def test_neither_people_nor_teams_are_named_so(command: tuple[str, ...], mira: Membership) -> None:
    with pytest.raises(CommandError, match="invisible character") as error:
        call_command(*command, stdout=StringIO())
    assert "\u202e" not in str(error.value)
    assert (Team.objects.count(), User.objects.count()) == (1, 1)


def test_a_title_stands_apart_from_the_sentence_around_it(
    priya: Membership, client_of: ClientOf
) -> None:
    account = AccountFactory.create(tenant=priya.team.tenant)
    token = TokenFactory.create(owner=priya.user, account=account)
    job = JobFactory.create(account=account, token=token, title="סרט")
    browser = client_of(priya)
    for url in (
        reverse("library"),
        reverse("video", args=[job.pk]),
        reverse("video-hide", args=[job.pk]),
        reverse("drafts"),
    ):
        assert "<bdi>סרט</bdi>" in browser.get(url).content.decode(), url
