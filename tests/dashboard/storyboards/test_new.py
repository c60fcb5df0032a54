"""A new storyboard: empty scenes, or a description; what is offered, and what is refused."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import Budget, Membership
from proxyapi.models import Charge, Storyboard, Token, TokenState
from tests.dashboard.storyboards.boards import order, send
from tests.storyboards import create_storyboard, reload_account

Browser = Callable[[Membership], Any]
HTMX = {"HX-Request": "true"}
DESCRIPTION = "A night train leaves a fjord station and arrives at first light by the glacier."


def form_data(**changes: Any) -> dict[str, Any]:
    return {
        "storyboard": str(uuid.uuid4()),
        "title": "Night train north",
        "mode": "wizard",
        "description": DESCRIPTION,
        "scene_count": "8",
        "style": "cinematic",
        "engine": "brook",
        "aspect_ratio": "9:16",
        "resolution": "480p",
        **changes,
    }


def post(browser: Any, data: dict[str, Any], **headers: str) -> Any:
    return browser.post(reverse("new-storyboard"), data, headers=headers)


def test_the_page_offers_the_engines_of_the_plan_and_their_formats(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert "Brook" in page and "Marlow 02" in page and "2 in your plan" in page
    assert 'name="aspect_ratio"' in page and 'name="resolution"' in page
    assert 'name="audio"' not in page and 'name="duration"' not in page
    assert "Moodboard images" in page
    assert 'type="file"' not in page


def test_an_engine_that_the_service_does_not_list_for_scenes_is_not_offered(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    token.account.options = {"clip_engines": [{"id": 7, "slug": "brook"}]}
    token.account.save()
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert "Brook" in page and "Marlow 02" not in page


def test_empty_scenes_are_free_and_open_the_editor_with_the_first_one(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    data = form_data(mode="manual", description="", engine="marlow-02", aspect_ratio="9:16")
    answer = post(client_of(priya), data)
    storyboard = Storyboard.objects.get()
    assert answer.url == reverse("storyboard", args=[storyboard.pk])
    assert str(storyboard.pk) == data["storyboard"]
    assert (storyboard.aspect_ratio, storyboard.resolution) == ("16:9", "768P")  # what it offers
    (scene,) = storyboard.scenes.all()
    assert (scene.position, scene.prompt, scene.duration) == (1, "", 6)
    assert not Charge.objects.exists()


def test_a_form_that_is_sent_twice_makes_one_storyboard(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser, data = client_of(priya), form_data(mode="manual")
    post(browser, data)
    answer = post(browser, data)
    assert answer.url == reverse("storyboard", args=[data["storyboard"]])
    assert Storyboard.objects.get().scenes.count() == 1


def test_a_description_is_kept_and_its_price_is_asked_for(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = post(client_of(priya), form_data(), **HTMX)
    storyboard, text = Storyboard.objects.get(), answer.content.decode()
    assert (storyboard.description, storyboard.style) == (DESCRIPTION, "cinematic")
    assert (storyboard.scene_count, storyboard.mode) == (8, "wizard")
    assert not storyboard.scenes.exists() and not Charge.objects.exists()
    assert 'id="confirm"' in text and "Write 8 scenes?" in text and "≈ 4 cr" in text
    assert DESCRIPTION in text


def test_without_scripts_the_question_is_a_page(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser = client_of(priya)
    answer = post(browser, form_data())
    assert answer.url == reverse("storyboard-writing", args=[Storyboard.objects.get().pk])
    assert "Write 8 scenes?" in browser.get(answer.url).content.decode()


def test_the_form_of_a_storyboard_without_scenes_can_be_gone_on_with(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser, data = client_of(priya), form_data()
    post(browser, data)
    page = browser.get(f"{reverse('new-storyboard')}?storyboard={data['storyboard']}")
    assert DESCRIPTION in page.content.decode() and data["storyboard"] in page.content.decode()
    post(browser, {**data, "title": "Night train", "scene_count": "3"})
    storyboard = Storyboard.objects.get()
    assert (storyboard.title, storyboard.scene_count) == ("Night train", 3)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"description": " "}, "Describe the film, or start with empty scenes."),
        ({"scene_count": "21"}, "The maximum is 20."),
        ({"scene_count": "0"}, "The minimum is 1."),
        ({"scene_count": ""}, "Enter a number of scenes."),
        ({"description": "far too long " * 400}, "At most 4000 characters are allowed"),
        ({"description": "hidden\u202eword"}, "It contains an invisible character."),
        ({"engine": "gone"}, "Choose one of the engines."),
        ({"storyboard": "x"}, "Reload the page and try again."),
    ],
)
def test_a_refused_form_says_why_and_loses_nothing(
    changes: dict[str, str], text: str, priya: Membership, token: Token, client_of: Browser
) -> None:
    data = form_data(**changes)
    answer = post(client_of(priya), data)
    page = answer.content.decode()
    assert answer.status_code == 422 and text in page
    assert data["description"].strip() in page and "Night train north" in page
    assert not Storyboard.objects.exists()
    answer = post(client_of(priya), data, **HTMX)
    assert answer["HX-Retarget"] == "#start" and text in answer.content.decode()


def test_without_a_token_the_words_stay_and_a_sentence_says_what_is_missing(
    priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    assert "Add your API token" in browser.get(reverse("new-storyboard")).content.decode()
    answer = post(browser, form_data(engine=""))
    page = answer.content.decode()
    assert answer.status_code == 422 and DESCRIPTION in page
    assert "You have no token yet. Add yours" in page


def test_a_token_that_stopped_working_is_said(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    token.state = TokenState.REVOKED
    token.save()
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert "Your token stopped working" in page and "disabled" in page


def test_without_a_title_the_first_words_are_it(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    post(client_of(priya), form_data(title=""))
    title = Storyboard.objects.get().title
    assert title == "A night train leaves a fjord station and arrives at first…"


def test_a_choice_draws_the_price_and_formats_anew_and_stores_nothing(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser = client_of(priya)
    data = form_data(part="1", engine="marlow-02", scene_count="3", menus="")
    text = post(browser, data, **HTMX).content.decode()
    assert "Write 3 scenes" in text and "768P, the only one Marlow 02 offers." in text
    assert "3 clips of 6 or 10 s" in text and "16 or 26 cr each" in text and "≈ 48 to 78" in text
    text = post(browser, {**data, "mode": "manual"}, **HTMX).content.decode()
    assert "Create storyboard" in text and "Free" in text
    assert not Storyboard.objects.exists()


@pytest.mark.parametrize(
    ("description", "count"),
    [
        ("A boat crosses a lake in six scenes.", 6),
        ("6 short scenes of a boat, Scene 2 at night.", 6),
        ("A twelve-scenes film", 12),
        ("Six scenes: the first two scenes are at sea.", 6),
        ("A film in 8 scenes", None),  # it is chosen already
        ("Four or five scenes", None),
        ("6-8 scenes", None),
        ("Two scenes at sea, three scenes ashore", None),
        ("A boat in 21 scenes", None),
        ("The first two scenes are at sea", None),
        ("In scene 6 the boat sinks", None),
    ],
)
def test_a_number_of_scenes_in_the_description_is_offered_and_nothing_is_overwritten(
    description: str, count: int | None, priya: Membership, token: Token, client_of: Browser
) -> None:
    text = post(client_of(priya), form_data(description=description, part="1"), **HTMX)
    hint = text.content.decode().partition('id="scene-count-hint"')[2].partition("</p>")[0]
    if count is None:
        assert "hidden" in hint and "data-number" not in hint
    else:
        assert f"The description says {count} scenes." in hint and f'data-number="{count}"' in hint
    assert "Write 8 scenes" in text.content.decode()


def test_without_scripts_the_described_number_is_taken_and_nothing_is_started(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser, data = client_of(priya), form_data(description="A film in six scenes")
    offered = post(browser, data | {"title": "x" * 201}).content.decode()
    assert re.search(r'<noscript><button [^>]*name="use_count"\s+value="6"', offered)
    page = post(browser, data | {"use_count": "6"}).content.decode()
    assert re.search(r'name="scene_count"[^>]*\s+value="6"', page)
    assert 'value="Night train north"' in page and "A film in six scenes" in page
    assert "The description says" not in page
    assert not Storyboard.objects.exists() and not Charge.objects.exists()


@pytest.mark.parametrize("count", ["", "0", "99", "six"])
def test_a_number_that_cannot_be_taken_is_named(
    count: str, priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = post(client_of(priya), form_data(use_count=count))
    assert answer.status_code == 200
    assert 'id="id_scene_count_error"' in answer.content.decode()
    assert not Storyboard.objects.exists()


def chosen(page: str, name: str) -> str:
    match = re.search(rf'name="{name}"\s+value="([^"]+)"[^>]*\bchecked', page)
    return match[1] if match else ""


def test_the_first_engine_is_one_of_720p_or_more_at_that_resolution(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    low, high = deepcopy(token.account.clip_models)
    low["modifiers"]["resolution"] = {"options": ["480p"], "default": "480p"}
    high["modifiers"]["resolution"] = {"options": ["480p", "768P"], "default": "480p"}
    reload_account(token.account, clip_models=[low, high])
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert (chosen(page, "engine"), chosen(page, "resolution")) == ("marlow-02", "768P")
    reload_account(token.account, clip_models=[low])
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert chosen(page, "engine") == "brook"


def test_the_engine_of_the_last_storyboard_of_the_team_is_chosen(
    priya: Membership, luca: Membership, token: Token, client_of: Browser
) -> None:
    post(client_of(priya), form_data(engine="marlow-02"))
    post(client_of(priya), form_data(engine="brook", resolution="480p"))
    token.owner = luca.user
    token.save()
    page = client_of(luca).get(reverse("new-storyboard")).content.decode()
    assert (chosen(page, "engine"), chosen(page, "resolution")) == ("brook", "480p")


def test_clips_that_cost_nothing_are_free_on_the_page_before(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    storyboard = create_storyboard(priya, token, "A boat leaves the harbour")
    order(send(priya, storyboard), priya, list(storyboard.scenes.all()), cost=Decimal(0))
    text = post(client_of(priya), form_data(part="1"), **HTMX).content.decode()
    later = text.partition('id="start-later"')[2].partition("</section>")[0]
    assert "8 clips of 1 to 15 s" in later and ">free</dd>" in later
    assert "The last clips cost nothing: the render is what is charged." in later
    assert "≈" not in later


def test_engines_that_are_read_meanwhile_appear_and_nothing_is_lost(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser, models = client_of(priya), token.account.clip_models
    reload_account(token.account, clip_models=[])
    page = browser.get(reverse("new-storyboard")).content.decode()
    assert "The engines of your plan are being read." in page and "reelroom:account" in page
    data = form_data(part="1")
    text = post(browser, data, **HTMX).content.decode()
    # The page has no place for formats yet: htmx would report them in the console.
    assert "start-engines" not in text and "start-formats" not in text
    reload_account(token.account, clip_models=models)
    text = post(browser, data, **HTMX).content.decode()
    assert 'id="start-engines" hx-swap-oob="true"' in text and "Marlow 02" in text
    assert "are being read" not in text
    text = post(browser, {**data, "menus": "x"}, **HTMX).content.decode()
    assert "start-engines" not in text and "start-formats" in text


def test_over_budget_the_price_card_says_so(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=Decimal(2))
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert "2 of your 2 left" in page
    assert "Request approval" in post(client_of(priya), form_data(), **HTMX).content.decode()


def test_a_storyboard_of_another_team_cannot_be_gone_on_with(
    priya: Membership, otto: Membership, token: Token, client_of: Browser
) -> None:
    storyboard = create_storyboard(priya, token)
    data = form_data(storyboard=str(storyboard.pk))
    other = client_of(otto)
    assert other.get(f"{reverse('new-storyboard')}?storyboard={storyboard.pk}").status_code == 404
    assert post(other, {**data, "engine": ""}).status_code == 404


def test_credits_that_may_be_spent_leave_the_decision_to_the_question(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    reload_account(token.account, balance=Decimal(1), extra_credits=Decimal(9))
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert 'disabled aria-describedby="start-why"' not in page
    reload_account(token.account, extra_credits=Decimal(2))
    page = client_of(priya).get(reverse("new-storyboard")).content.decode()
    assert "1 cr free; 5 would be held" in page
