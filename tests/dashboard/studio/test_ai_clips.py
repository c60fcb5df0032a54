"""AI clips: engines with legal combinations, prices, and a choice that is gone."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.video_options import account_options
from dashboard.studio.actions import render_video, request_draft_price, save_draft_step
from dashboard.studio.forms import build_step_form
from dashboard.studio.forms.clip_engines import ClipEngineForm
from dashboard.studio.queries import StepSlug, build_draft_price, first_open_step
from proxyapi.models import Draft, Job, Token
from proxyapi.refusals import NotReady
from tests.dashboard.studio.conftest import OPTIONS, WANTED, Browser, get_page, step_url
from tests.factories import JobFactory

HTMX = {"HX-Request": "true"}
VOICED = {
    "id": 818,
    "name": "Kestrel Voice",
    "slug": "kestrel-voice",
    "description": "Kestrel with sound",
    "cost": [
        {"credits_per_second": "2.72", "resolution": "720p", "audio": "off"},
        {"credits_per_second": "4.08", "resolution": "720p", "audio": "on"},
        {"credits_per_second": "5.44", "resolution": "1080p", "audio": "on"},
    ],
}
CALM = {
    "id": 821,
    "name": "Marlow",
    "slug": "marlow",
    "cost": [{"credits_per_second": "1.53", "resolution": "512P"}],
}
DEAR = {"id": 833, "name": "Halden Max", "slug": "halden-max", "cost": [{"credits_per_second": 9}]}
MODELS = [
    {
        "slug": "kestrel-voice",
        "modifiers": {
            "resolution": {"options": ["720p", "1080p"]},
            "audio": {"options": ["on", "off"]},
            "aspect_ratio": {"options": ["16:9", "9:16"]},
            "duration": {"options": [5, 8, 12]},
        },
    },
    {"slug": "marlow", "modifiers": {"resolution": {"options": ["512P"]}}},
]
SETTINGS = {
    **{name: value for name, value in WANTED.items() if name != "image_engine_id"},
    "type": "ai-clips",
    "clip_engine_id": 818,
    "resolution": "720p",
    "audio": "on",
}


def offer(job: Job, *engines: dict[str, Any]) -> None:
    optional = {**OPTIONS["optional"], "clip_engines": list(engines)}
    job.account.options, job.account.clip_models = {**OPTIONS, "optional": optional}, MODELS
    job.account.plan_name = "Studio"
    job.account.save()


@pytest.fixture
def clips(token: Token) -> Job:
    """Complete and priced at 246 credits, 60.4 s at 4.08."""
    job = JobFactory.create(
        account=token.account,
        token=token,
        remote_id="502",
        draft__settings=SETTINGS,
        draft__sent_settings=SETTINGS,
        draft__estimate=Decimal(246),
        draft__estimate_as_of=timezone.now(),
    )
    offer(job, VOICED, CALM, DEAR)
    return job


def unmet(job: Job) -> list[str]:
    return [need.label for need in build_draft_price(job).requirements if not need.done]


def engine_form(job: Job) -> ClipEngineForm:
    form = build_step_form(job, StepSlug.VISUALS, account_options(job.account))
    assert isinstance(form, ClipEngineForm)
    return form


def test_the_page_shows_prices_what_the_script_costs_and_what_is_not_offered(
    priya: Membership, clips: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(clips, "visuals"))
    assert 'value="720p/on" checked' in html
    assert 'value="1080p/off"' not in html
    assert "not offered" in html
    assert "≈ 245 cr" in html  # 60 s at 4.08
    assert "Kestrel with sound, 5, 8 or 12 s a clip" in html
    assert "Image engine" not in html


def test_an_engine_outside_the_plan_or_without_the_format_is_last_with_the_reason(
    clips: Job,
) -> None:
    cards = [(card.engine.name, card.reason) for card in engine_form(clips).engine_cards]
    assert cards[-1] == ("Halden Max", "Not in the Studio plan")
    Draft.objects.update(settings={**SETTINGS, "aspect_ratio": "tall-one"})
    clips.draft.refresh_from_db()
    cards = [(card.engine.name, card.reason) for card in engine_form(clips).engine_cards]
    assert ("Kestrel Voice", "Does not make tall-one") in cards[1:]
    assert cards[0] == ("Marlow", "")


def test_a_choice_is_saved_with_resolution_and_sound_in_one_press(
    priya: Membership, clips: Job, client_of: Browser
) -> None:
    form = {"clip_engine_id": "818", "combination-818": "1080p/on", "combination-821": "512P/"}
    answer = client_of(priya).post(step_url(clips, "visuals"), {**form, "genre_id": "941"})
    assert answer.status_code == 302
    clips.refresh_from_db()
    assert clips.draft.unsent_settings() == {"resolution": "1080p"}


def test_another_engine_sends_the_service_that_it_has_no_sound_setting(
    priya: Membership, clips: Job, client_of: Browser
) -> None:
    form = {"clip_engine_id": "821", "combination-821": "512P/"}
    client_of(priya).post(step_url(clips, "visuals"), form, headers=HTMX)
    clips.refresh_from_db()
    assert clips.draft.unsent_settings() == {
        "clip_engine_id": 821,
        "resolution": "512P",
        "audio": None,
    }


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"clip_engine_id": "818", "combination-818": "1080p/off"}, "does not offer this"),
        ({"clip_engine_id": "818", "combination-818": "720P/on"}, "does not offer this"),
        ({"clip_engine_id": "833"}, "Not in the Studio plan. Choose another clip engine."),
        ({"clip_engine_id": "999"}, "no longer offers this"),
        ({"clip_engine_id": "818"}, "Choose the resolution and the sound of Kestrel Voice."),
        ({}, "Choose a clip engine."),
    ],
)
def test_an_illegal_combination_is_a_sentence_and_nothing_is_saved(
    priya: Membership, clips: Job, client_of: Browser, form: dict[str, str], sentence: str
) -> None:
    answer = client_of(priya).post(step_url(clips, "visuals"), {**form, "genre_id": "942"})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    clips.refresh_from_db()
    assert clips.draft.settings == SETTINGS


def test_a_combination_that_is_gone_is_named_and_the_nearest_lower_price_proposed(
    priya: Membership, clips: Job, client_of: Browser
) -> None:
    offer(clips, {**VOICED, "cost": VOICED["cost"][:1]}, CALM)  # type: ignore[index]
    assert unmet(clips) == ["Kestrel Voice does not offer 720p, sound on"]
    proposal = engine_form(clips).proposal
    assert proposal is not None
    assert (proposal[0].name, proposal[1].name) == ("Kestrel Voice", "720p, sound off")
    html = get_page(client_of(priya), step_url(clips, "visuals"))
    assert "The nearest lower price is Kestrel Voice, 720p, sound off" in " ".join(html.split())
    assert 'value="720p/off" checked' not in html
    # Another field of the step is saved, and the engine is left as it is.
    form = {"clip_engine_id": "818", "genre_id": "942"}
    client_of(priya).post(step_url(clips, "visuals"), form, headers=HTMX)
    clips.refresh_from_db()
    assert clips.draft.settings == {**SETTINGS, "genre_id": 942}


def test_an_engine_that_is_gone_is_never_replaced_without_a_press(
    priya: Membership, clips: Job, client_of: Browser
) -> None:
    offer(clips, CALM)
    assert unmet(clips) == ["The clip engine is no longer offered"]
    proposal = engine_form(clips).proposal
    assert proposal is not None
    assert proposal[0].name == "Marlow"
    html = get_page(client_of(priya), step_url(clips, "visuals"))
    assert 'name="clip_engine_id" value="821">' in html
    with pytest.raises(NotReady, match="no longer offered"):
        render_video(by=priya, job=clips, nonce=uuid.uuid4(), seen=Decimal(246))
    clips.refresh_from_db()
    assert clips.draft.settings == SETTINGS


def test_a_format_that_the_engine_does_not_make_is_named(priya: Membership, clips: Job) -> None:
    save_draft_step(by=priya, job=clips, changes={"aspect_ratio": "tall-one"})
    clips.refresh_from_db()
    assert unmet(clips) == ["Kestrel Voice does not make tall-one"]


def test_without_clip_engines_the_choice_is_hidden_and_not_needed(
    priya: Membership, clips: Job, client_of: Browser
) -> None:
    offer(clips)
    kept = ("clip_engine_id", "resolution", "audio")
    chosen = {name: value for name, value in SETTINGS.items() if name not in kept}
    Draft.objects.update(settings=chosen, sent_settings=chosen)
    clips.refresh_from_db()
    assert unmet(clips) == []
    assert "Clip engine" not in get_page(client_of(priya), step_url(clips, "visuals"))


def test_the_price_card_names_the_rate_and_the_length(clips: Job) -> None:
    rate = build_draft_price(clips).clip_rate
    assert rate is not None
    assert (rate.name, rate.credits_per_second, rate.length) == (
        "Kestrel Voice, 720p, sound on",
        Decimal("4.08"),
        "60 s",
    )


def test_no_price_is_asked_for_without_an_engine(priya: Membership, clips: Job) -> None:
    """The service would price its own default engine."""
    chosen = {**SETTINGS, "clip_engine_id": None, "resolution": None, "audio": None}
    Draft.objects.update(settings=chosen, sent_settings=chosen)
    clips.refresh_from_db()
    request_draft_price(by=priya, job=clips)
    clips.draft.refresh_from_db()
    assert (clips.draft.quote_due_at, build_draft_price(clips).state) == (None, "none")


def test_a_step_with_a_choice_that_is_gone_is_not_done(
    priya: Membership, clips: Job, client_of: Browser
) -> None:
    offer(clips, {**VOICED, "cost": VOICED["cost"][:1]}, CALM)  # type: ignore[index]
    assert first_open_step(clips).slug == StepSlug.VISUALS
    html = get_page(client_of(priya), step_url(clips, "review"))
    assert html.count("data-missing") == 1


def test_the_type_needs_a_genre_and_a_clip_engine(clips: Job) -> None:
    Draft.objects.update(settings={"type": "ai-clips"})
    clips.refresh_from_db()
    price = build_draft_price(clips)
    missing = [need.label for need in price.requirements if not need.done]
    assert missing[-2:] == ["Choose a genre", "Choose a clip engine"]
    assert price.reason.startswith("The price is requested when script, voice, genre and clip")
