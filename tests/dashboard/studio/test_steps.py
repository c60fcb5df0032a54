"""The steps: what is offered, what is saved, what comes back when it cannot be."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.video_options import parse_faceless_options
from proxyapi.models import Draft, Job
from tests.cases import each_case
from tests.dashboard.studio.conftest import SCRIPT, Browser, get_page, step_url
from tests.factories import AccountFactory, TenantFactory, TokenFactory

HTMX = {"HX-Request": "true"}


def test_every_step_has_its_page(priya: Membership, ready: Job, client_of: Browser) -> None:
    for step in ("type", "script", "voice", "visuals", "captions", "review"):
        answer = client_of(priya).get(step_url(ready, step))
        assert answer.status_code == 200, step
        assert answer.content.decode().count('aria-current="step"') == 1


def test_a_step_that_does_not_exist_is_not_found(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    assert client_of(priya).get(step_url(ready, "music")).status_code == 404


def test_a_step_is_saved_and_leads_to_the_next(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    """pitfall_109: of a format its slug is sent, not its label."""
    answer = client_of(priya).post(
        step_url(draft, "type"),
        {"title": "Reading ice", "type": "ai-visuals", "aspect_ratio": "tall-one"},
    )
    draft.refresh_from_db()
    assert answer.url == step_url(draft, "script")
    assert (draft.title, draft.draft.settings["aspect_ratio"]) == ("Reading ice", "tall-one")


def test_ids_stay_the_numbers_the_service_gave(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    browser.post(step_url(draft, "voice"), {"voice_id": "7"})
    browser.post(step_url(draft, "visuals"), {"genre_id": "942", "image_engine_id": "72"})
    draft.refresh_from_db()
    kept = [draft.draft.settings[name] for name in ("voice_id", "genre_id", "image_engine_id")]
    assert kept == [7, 942, 72]


@each_case(
    "step, data, sentence",
    [
        ("voice", {}, "Choose a voice."),
        ("voice", {"voice_id": "999"}, "no longer offers this"),
        ("visuals", {"image_engine_id": "71"}, "Choose a genre."),
        ("type", {"title": "A", "type": "ai-dreams", "aspect_ratio": "16:9"}, "Choose a type."),
        ("type", {"title": "A", "type": "ai-visuals", "aspect_ratio": "2:1"}, "no longer offers"),
        ("script", {"script": " \n "}, "Enter a script"),
        ("captions", {"font": "Comic"}, "no longer offers this"),
    ],
)
def test_what_is_not_legal_is_a_sentence_and_not_saved(
    priya: Membership,
    draft: Job,
    client_of: Browser,
    step: str,
    data: dict[str, str],
    sentence: str,
) -> None:
    answer = client_of(priya).post(step_url(draft, step), data)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    before = draft.draft.settings
    draft.refresh_from_db()
    assert draft.draft.settings == before


def test_a_script_that_is_too_long_says_by_how_much_and_stays(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    script = "word " * 3_412
    answer = client_of(priya).post(step_url(draft, "script"), {"script": script})
    html = answer.content.decode()
    assert "3,412 words are too many." in html
    assert "Shorten it by 412." in html
    assert script.strip() in html


def test_captions_can_all_stay_standard(priya: Membership, draft: Job, client_of: Browser) -> None:
    """pitfall_120: nothing empty is sent."""
    answer = client_of(priya).post(step_url(draft, "captions"), {"font": "", "volume": ""})
    assert answer.url == step_url(draft, "review")
    draft.refresh_from_db()
    assert "font" not in draft.draft.settings


def test_a_choice_can_be_left_to_the_service_again_and_null_is_sent(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    chosen = {**draft.draft.settings, "volume": "v-low"}
    Draft.objects.update(settings=chosen, sent_settings=chosen)
    html = get_page(client_of(priya), step_url(draft, "captions"))
    assert html.count(">Standard</option>") == 1
    for name in ("font", "caption_effect"):
        assert f'name="{name}" value="" checked' in html
    client_of(priya).post(step_url(draft, "captions"), {"volume": "", "font": ""})
    draft.refresh_from_db()
    assert draft.draft.unsent_settings() == {"volume": None}


def test_an_optional_setting_that_was_not_sent_stays(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    Draft.objects.update(settings={**draft.draft.settings, "volume": "v-low"})
    client_of(priya).post(step_url(draft, "captions"), {"font": "f-1"}, headers=HTMX)
    draft.refresh_from_db()
    assert (draft.draft.settings["volume"], draft.draft.settings["font"]) == ("v-low", "f-1")


def test_a_value_that_is_no_longer_offered_stays_until_another_is_chosen(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    Draft.objects.update(settings={**draft.draft.settings, "font": "f-gone"})
    browser = client_of(priya)
    html = get_page(browser, step_url(draft, "captions"))
    assert re.search(r'value="f-gone"\s+checked>\s*<span[^>]*>f-gone \(no longer offered\)', html)
    browser.post(step_url(draft, "captions"), {"font": "f-gone", "volume": "v-low"}, headers=HTMX)
    draft.refresh_from_db()
    assert (draft.draft.settings["volume"], draft.draft.settings["font"]) == ("v-low", "f-gone")
    assert "The font is no longer available" in get_page(browser, step_url(draft, "review"))


def test_a_single_field_is_saved_while_another_is_missing(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    browser, url = client_of(priya), step_url(draft, "visuals")
    assert browser.post(url, {"image_engine_id": "72"}, headers=HTMX).status_code == 200
    draft.refresh_from_db()
    assert draft.draft.settings["image_engine_id"] == 72
    assert "Choose a genre." in browser.post(url, {"image_engine_id": "72"}).content.decode()


def test_only_what_changed_is_saved(priya: Membership, ready: Job, client_of: Browser) -> None:
    """pitfall_120: the same answers again are no edit, and the price stays."""
    client_of(priya).post(step_url(ready, "visuals"), {"genre_id": "941", "image_engine_id": "71"})
    edited = ready.draft.edited_at
    ready.refresh_from_db()
    assert (ready.draft.edited_at, ready.draft.has_current_estimate) == (edited, True)


def test_options_in_either_layer_are_offered(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    """pitfall_119"""
    html = get_page(client_of(priya), step_url(draft, "captions"))
    assert "Karaoke" in html
    assert "No value" not in html


def test_pitfall_95_a_draft_offers_the_options_of_its_own_account(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    """Voices of another account of the same team, or of another team, are not its own."""
    voices = {"mandatory": {"voices": [{"id": 99, "name": "Cloned Thea", "language": "English"}]}}
    for tenant in (draft.tenant, TenantFactory.create()):
        account = AccountFactory.create(tenant=tenant, options=voices)
        TokenFactory.create(account=account, owner=priya.user)
    html = get_page(client_of(priya), step_url(draft, "voice"))
    assert "Maren" in html
    assert "Cloned Thea" not in html
    assert client_of(priya).post(step_url(draft, "voice"), {"voice_id": "99"}).status_code == 422


def test_pitfall_56_a_cost_that_is_a_list_is_no_multiplier() -> None:
    """As clip engines have one; what an image engine multiplies is a number."""
    engines = [{"id": 1, "name": "Clips", "cost": [{"credits_per_second": 0.68}]}]
    engines.append({"id": 2, "name": "Atelier", "cost": 3})
    notes = [
        one.note
        for one in parse_faceless_options({"image_engines": engines}).choices("image_engine_id")
    ]
    assert notes == ["", "3 times the standard price"]


def test_without_options_the_page_says_so_and_refetches(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    draft.account.options = {}
    draft.account.save()
    html = get_page(client_of(priya), step_url(draft, "voice"))
    assert "voices and formats are not loaded yet" in html


def test_what_waits_for_the_options_is_replaced_by_them_or_by_itself(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    offered, draft.account.options = draft.account.options, {}
    asks = {**HTMX, "HX-Target": "options"}
    draft.account.save()
    waiting = client_of(priya).get(step_url(draft, "voice"), headers=asks).content.decode()
    assert 'id="options"' in waiting
    draft.account.options = offered
    draft.account.save()
    told = client_of(priya).get(step_url(draft, "voice"), headers=asks).content.decode()
    assert 'id="step"' in told
    # And "Next", a link until then, which saves from now on.
    assert 'hx-select-oob="#actbar"' in waiting
    bars = [re.search(r'id="actbar".*?</div>', html, re.DOTALL) for html in (waiting, told)]
    assert [bar is not None and 'form="step"' in bar[0] for bar in bars] == [False, True]


def test_a_field_is_saved_when_it_is_left(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(step_url(draft, "voice"), {"voice_id": "7"}, headers=HTMX)
    html = answer.content.decode()
    assert "<html" not in html
    assert 'id="steps"' in html
    assert f'id="job-{draft.pk}-price"' in html
    draft.refresh_from_db()
    assert draft.draft.settings["voice_id"] == 7


@pytest.mark.parametrize(
    ("words", "sentence"),
    [("", "Enter a script"), ("ice " * 3005, "3,005 words are too many.")],
)
def test_a_field_that_cannot_be_saved_says_why_beside_the_form(
    priya: Membership, ready: Job, client_of: Browser, words: str, sentence: str
) -> None:
    answer = client_of(priya).post(step_url(ready, "script"), {"script": words}, headers=HTMX)
    html = answer.content.decode()
    assert html.strip().startswith('<div id="refusal" hx-swap-oob="true">')
    assert sentence in html
    assert 'id="marks"' not in html
    ready.refresh_from_db()
    assert ready.draft.settings["script"] == SCRIPT


@pytest.mark.parametrize("free", [0, 3])
def test_once_there_are_words_the_offer_to_write_says_that_it_replaces_them(
    priya: Membership, draft: Job, client_of: Browser, free: int
) -> None:
    draft.account.costs = {"content_prompt_requested": {"credits": 6, "free": free}}
    draft.account.save()
    browser, warning = client_of(priya), "It replaces the current script."
    assert warning not in get_page(browser, step_url(draft, "script"))
    answer = browser.post(step_url(draft, "script"), {"script": "My own words."}, headers=HTMX)
    html = answer.content.decode()
    assert re.search(rf'<span id="write-note" hx-swap-oob="true">\s*{re.escape(warning)}', html)
    assert "Write a new script" in html


def test_words_of_people_are_never_markup(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    Job.objects.update(title=evil)
    chosen = {**ready.draft.settings, "title": evil, "script": evil + "</textarea>"}
    Draft.objects.update(settings=chosen)
    for step in ("type", "script", "review"):
        html = get_page(client_of(priya), step_url(ready, step))
        assert "<img src=x" not in html
        assert "&lt;img src=x" in html


def test_a_page_of_the_wizard_takes_few_queries(
    priya: Membership, ready: Job, client_of: Browser, django_assert_max_num_queries: object
) -> None:
    browser = client_of(priya)
    for step in ("type", "script", "voice", "visuals", "captions", "review"):
        most = 17 if step == "script" else 15  # the draft again, and what a script must name
        with django_assert_max_num_queries(most):  # type: ignore[operator]
            browser.get(step_url(ready, step))


def test_steps_show_what_is_done_and_what_was_skipped(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    Draft.objects.update(settings={**draft.draft.settings, "script": SCRIPT})
    html = get_page(client_of(priya), step_url(draft, "visuals"))
    assert "60 s, 151 words" in html
    assert "data-missing" not in html
    assert "No voice yet" in html
    html = get_page(client_of(priya), reverse("studio-renders", args=[draft.pk]))
    assert html.count("data-missing") == 3  # format, voice and visuals: a render needs them
