"""Scenes written by the service: the question, its charge, writing again, refused and lost ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import ApprovalRequest, Budget, Membership
from proxyapi.models import (
    Charge,
    ChargeState,
    Draft,
    Job,
    Storyboard,
    StoryboardMode,
    Token,
    TokenState,
)
from proxyapi.models.job_part import JobPart, PartState
from tests.dashboard.storyboards.test_list import place_with_clips
from tests.factories import ChargeFactory
from tests.storyboards import create_storyboard

Browser = Callable[[Membership], Any]
HTMX = {"HX-Request": "true"}
DESCRIPTION = "A night train leaves a fjord station and arrives at first light."
WRITING = "text_to_scene.prompt"


@pytest.fixture
def storyboard(priya: Membership, token: Token) -> Storyboard:
    """A description for three scenes, none of which is written."""
    fields = {"mode": StoryboardMode.WIZARD, "description": DESCRIPTION, "scene_count": 3}
    return create_storyboard(priya, token, style="cinematic", **fields)


def ask(browser: Any, storyboard: Storyboard, **headers: str) -> str:
    url = reverse("storyboard-writing", args=[storyboard.pk])
    text: str = browser.get(url, headers=headers or HTMX).content.decode()
    return text


def confirm(browser: Any, storyboard: Storyboard, question: str, **data: str) -> Any:
    """Send the form of the question."""
    (nonce,) = re.findall(r'name="nonce" value="([^"]+)"', question)
    (price,) = re.findall(r'name="price" value="([^"]+)"', question)
    url = reverse("storyboard-writing", args=[storyboard.pk])
    return browser.post(url, {"nonce": nonce, "price": price, **data}, headers=HTMX)


def open_editor(browser: Any, storyboard: Storyboard) -> str:
    page: str = browser.get(reverse("storyboard", args=[storyboard.pk])).content.decode()
    return page


def test_the_question_shows_what_is_sent_and_about_what_a_script_costs(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    question = ask(client_of(priya), storyboard)
    assert "Write 3 scenes?" in question and DESCRIPTION in question and "<textarea" not in question
    assert "≈ 4" in question and "The service lists no price for it" in question
    assert "Held until the exact price is known" in question
    assert "This replaces" not in question


def test_scenes_are_written_in_a_copy_and_charged_once(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    browser = client_of(priya)
    question = ask(browser, storyboard)
    for _ in range(2):
        answer = confirm(browser, storyboard, question)
        assert answer["HX-Redirect"] == reverse("storyboard", args=[storyboard.pk])
    charge = Charge.objects.get()
    assert (charge.operation, charge.quote, charge.state) == (WRITING, 4, ChargeState.HELD)
    assert charge.body == {"prompt": f"{DESCRIPTION}\n\nCinematic style.", "scenes": 3}
    assert charge.job is not None
    assert charge.job.storyboard_copy.storyboard == storyboard
    assert charge.job.draft.settings["mode"] == "wizard"
    assert Job.objects.count() == 1


def test_while_they_are_written_a_bone_stands_for_each_scene(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    browser = client_of(priya)
    confirm(browser, storyboard, ask(browser, storyboard))
    text = open_editor(browser, storyboard)
    assert "Writing 3 scenes" in text and text.count("bone--scene") == 3
    assert "You can leave this page." in text and "usually" not in text
    assert "The scenes are being written" in browser.get(reverse("storyboards")).content.decode()
    other = confirm(browser, storyboard, ask(browser, storyboard)).content.decode()
    assert "The scenes are being written, or wait for an approval." in other
    assert Charge.objects.count() == 1


def test_the_usual_time_is_said_when_enough_is_known(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    past = create_storyboard(priya, storyboard.token, "One", title="Past")
    job = place_with_clips(priya, past)
    for seconds in (10, 18, 30):
        sent_at = timezone.now() - timedelta(days=1)
        settled = {"applied_at": sent_at + timedelta(seconds=seconds), "settled_at": sent_at}
        ended = {"operation": WRITING, "state": ChargeState.CONFIRMED, "cost": 4}
        ChargeFactory.create(job=job, sent_at=sent_at, **ended, **settled)
    browser = client_of(priya)
    question = ask(browser, storyboard)
    assert "The last one on this account cost 4 cr." in question
    confirm(browser, storyboard, question)
    assert "usually 10 to 30 s" in " ".join(open_editor(browser, storyboard).split())


def test_a_free_one_is_said(priya: Membership, storyboard: Storyboard, client_of: Browser) -> None:
    past = create_storyboard(priya, storyboard.token, "One", title="Past")
    settled = {"state": ChargeState.CONFIRMED, "cost": 0, "settled_at": timezone.now()}
    settled["sent_at"] = timezone.now()
    ChargeFactory.create(job=place_with_clips(priya, past), operation=WRITING, **settled)
    question = ask(client_of(priya), storyboard)
    assert "The last one on this account was free." in question


def test_writing_again_says_what_it_replaces_and_takes_a_changed_description(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    for number in range(1, 4):
        storyboard.scenes.create(prompt=f"Scene {number}", position=number, duration=5)
    current = place_with_clips(priya, storyboard, *[PartState.COMPLETED] * 2)
    browser = client_of(priya)
    question = ask(browser, storyboard)
    assert (
        "Write the scenes again?" in question
        and "<textarea" in question
        and DESCRIPTION in question
    )
    assert (
        "This replaces 3 scenes. 2 have clips that were paid for; they stay in the library."
        in question
    )
    changed = {"description": "Only the glacier.", "style": "", "scene_count": "5"}
    confirm(browser, storyboard, question, **changed)
    storyboard.refresh_from_db()
    assert (storyboard.description, storyboard.scene_count) == ("Only the glacier.", 5)
    charge = Charge.objects.get()
    assert charge.body == {"prompt": "Only the glacier.", "scenes": 5}
    # The scenes and their clips are here until others are.
    assert storyboard.copy == current and charge.job != current
    assert storyboard.scenes.count() == 3 and JobPart.objects.count() == 2


def test_a_refused_field_of_the_question_charges_nothing_and_is_kept(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    storyboard.scenes.create(prompt="Scene", position=1, duration=5)
    browser = client_of(priya)
    changed = {"description": "Only the glacier.", "style": "", "scene_count": "21"}
    text = confirm(browser, storyboard, ask(browser, storyboard), **changed).content.decode()
    assert "The maximum is 20." in text and "Only the glacier." in text
    assert not Charge.objects.exists()


def test_without_scripts_the_question_takes_the_described_number_and_charges_nothing(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    storyboard.scenes.create(prompt="Scene", position=1, duration=5)
    browser = client_of(priya)
    fields = {"description": "A film in six scenes", "style": "", "scene_count": "8"}
    question = ask(browser, storyboard)
    text = confirm(browser, storyboard, question, **fields, use_count="6").content.decode()
    assert re.search(r'name="scene_count"[^>]*\s+value="6"', text)
    assert "A film in six scenes" in text
    assert not Charge.objects.exists()


def test_a_description_that_the_service_refused_is_kept_and_can_be_changed(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    browser = client_of(priya)
    confirm(browser, storyboard, ask(browser, storyboard))
    refused = {"state": ChargeState.REFUSED, "settled_at": timezone.now()}
    Charge.objects.update(reason="Prompt is not allowed.", **refused)
    text = open_editor(browser, storyboard)
    assert "The scenes were not written." in text
    assert "Prompt is not allowed. Nothing was charged. Your description is kept." in text
    assert "Change the" in text
    question = ask(browser, storyboard)
    assert DESCRIPTION in question and "<textarea" in question
    changed = {"description": "Another film.", "style": "", "scene_count": "3"}
    confirm(browser, storyboard, question, **changed)
    assert Charge.objects.filter(state=ChargeState.HELD).count() == 1
    assert Job.objects.count() == 1  # the empty copy is used again


def test_a_lost_answer_is_said_and_nothing_is_sent_again(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    browser = client_of(priya)
    confirm(browser, storyboard, ask(browser, storyboard))
    Charge.objects.update(state=ChargeState.UNKNOWN, sent_at=timezone.now(), attempts=1)
    text = open_editor(browser, storyboard)
    assert "We do not know whether the scenes were written." in text
    assert "Nothing was sent again." in text
    confirm(browser, storyboard, ask(browser, storyboard))
    assert Charge.objects.count() == 1


def test_scenes_that_are_written_and_not_read_yet_are_awaited(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    browser = client_of(priya)
    confirm(browser, storyboard, ask(browser, storyboard))
    now = timezone.now()
    Charge.objects.update(state=ChargeState.CONFIRMED, cost=4, sent_at=now, settled_at=now)
    assert "Writing 3 scenes" not in open_editor(browser, storyboard)
    charge = Charge.objects.get()
    assert charge.job is not None
    Draft.objects.filter(job=charge.job).update(sent_settings={"unread_writing": str(charge.pk)})
    assert "Writing 3 scenes" in open_editor(browser, storyboard)


def test_over_budget_an_approval_is_requested(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=Decimal(2))
    browser = client_of(priya)
    question = ask(browser, storyboard)
    assert "Request approval" in question
    refused = confirm(browser, storyboard, question).content.decode()
    assert "Over budget" in refused and not Charge.objects.exists()
    confirm(browser, storyboard, question, ask="1", note="For the spring film")
    assert ApprovalRequest.objects.get().note == "For the spring film"
    assert "waits for an approval" in open_editor(browser, storyboard)


@pytest.mark.parametrize(
    ("state", "balance", "price", "text"),
    [
        (TokenState.REVOKED, 900, "4", "does not work now"),
        (TokenState.WORKING, 1, "4", "It needs 5 cr; 1 are free"),
        (TokenState.WORKING, 900, "3", "The price was 3 cr and is 4 cr now"),
    ],
)
def test_nothing_is_sent_with_a_token_credits_or_a_price_that_changed(
    state: TokenState,
    balance: int,
    price: str,
    text: str,
    priya: Membership,
    storyboard: Storyboard,
    client_of: Browser,
) -> None:
    browser = client_of(priya)
    question = ask(browser, storyboard)
    Token.objects.update(state=state)
    storyboard.account.balance = Decimal(balance)
    storyboard.account.save()
    answer = confirm(browser, storyboard, question, price=price)
    assert text in answer.content.decode()
    assert not Charge.objects.exists()


def test_without_a_description_nothing_is_sent(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    storyboard = create_storyboard(priya, token, scene_count=3)
    browser = client_of(priya)
    answer = confirm(browser, storyboard, ask(browser, storyboard))
    assert "Describe the film first. Nothing was sent." in answer.content.decode()
    assert not Charge.objects.exists()


def test_without_scripts_the_question_and_its_refusal_are_pages(
    priya: Membership, storyboard: Storyboard, client_of: Browser
) -> None:
    browser = client_of(priya)
    page = ask(browser, storyboard, Accept="text/html")
    assert "<html" in page and "data-page" in page
    page = browser.post(reverse("storyboard-writing", args=[storyboard.pk]), {}).content.decode()
    assert "Reload the page and try again." in page and not Charge.objects.exists()
