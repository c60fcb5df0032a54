"""Each type shows the steps and settings of its flow; a draft changes its type until it is
rendered."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership
from dashboard.studio.actions import save_draft_step
from dashboard.studio.queries import build_draft_price
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState
from proxyapi.refusals import NotReady
from tests.dashboard.studio.conftest import OPTIONS, WANTED, Browser, get_page, job_url, step_url
from tests.factories import ChargeFactory, JobFactory

HTMX = {"HX-Request": "true"}
TO_B_ROLL = {"title": "How to read a glacier", "type": "b-roll", "aspect_ratio": "16:9"}
TO_AI_VISUALS = {**TO_B_ROLL, "type": "ai-visuals"}
REMOVED = "Put aside because B-roll does not use it: image engine, genre."


def offer_overlays(job: Job) -> None:
    optional = {**OPTIONS["optional"], "overlays": [{"name": "Grain", "slug": "o-1"}]}
    job.account.options = {**OPTIONS, "optional": optional}
    job.account.save()


def test_the_type_step_offers_every_type_with_what_it_needs(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(draft, "type"))
    assert 'name="type" value="ai-visuals" checked' in html
    assert 'name="type" value="b-roll">' in html
    assert 'name="type" value="ai-clips">' in html
    assert "Needs a script, a voice and a genre" in html
    assert "Needs a script and a voice" in html


def test_another_type_keeps_what_it_uses_and_names_what_it_removed(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    browser.post(step_url(ready, "type"), TO_B_ROLL)
    before = ready.draft.settings
    ready.refresh_from_db()
    gone = {"genre_id", "image_engine_id"}
    kept = {name: value for name, value in before.items() if name not in gone}
    assert ready.draft.settings == {**kept, "type": "b-roll"}
    assert REMOVED in get_page(browser, step_url(ready, "script"))


def test_another_type_that_is_saved_when_left_says_so_in_a_toast(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(step_url(ready, "type"), TO_B_ROLL, headers=HTMX)
    html = answer.content.decode()
    assert html.index('hx-swap-oob="beforeend:#toasts"') < html.index(REMOVED)


def test_b_roll_shows_its_own_visuals_and_nothing_of_ai_visuals(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    offer_overlays(ready)
    browser = client_of(priya)
    browser.post(step_url(ready, "type"), TO_B_ROLL)
    html = get_page(browser, step_url(ready, "visuals"))
    assert "Grain" in html
    assert "genre_id" not in html
    review = get_page(browser, step_url(ready, "review"))
    assert "<dt>Overlay</dt>" in review
    assert "<dt>Genre</dt>" not in review
    browser.post(step_url(ready, "visuals"), {"overlay": "o-1", "genre_id": "941"})
    ready.refresh_from_db()
    assert (ready.draft.settings["overlay"], "genre_id" in ready.draft.settings) == ("o-1", False)
    browser.post(step_url(ready, "type"), TO_AI_VISUALS)
    ready.refresh_from_db()
    assert ready.draft.settings["overlay"] == "o-1"


def test_b_roll_needs_a_script_and_a_voice_and_no_genre(draft: Job) -> None:
    draft.draft.settings = {**draft.draft.settings, "type": "b-roll"}
    price = build_draft_price(draft)
    assert price.reason == "The price is requested when script and voice are chosen."
    assert [need.label for need in price.requirements if not need.done] == [
        "Write or paste a script",
        "Choose a voice",
    ]


def test_b_roll_is_rendered_at_its_price(priya: Membership, ready: Job, client_of: Browser) -> None:
    browser = client_of(priya)
    browser.post(step_url(ready, "type"), TO_B_ROLL)
    ready.refresh_from_db()
    priced = {
        "sent_settings": ready.draft.settings,
        "estimate": Decimal(42),
        "estimate_as_of": timezone.now(),
    }
    Draft.objects.filter(pk=ready.pk).update(**priced)
    sent = browser.post(job_url(ready, "renders"), {"nonce": uuid.uuid4(), "price": 42})
    assert sent.url == f"/videos/{ready.pk}/"
    charge = Charge.objects.get()
    assert (charge.operation, charge.quote) == ("faceless.render", Decimal(42))


def test_the_type_is_fixed_once_a_render_failed(priya: Membership, ready: Job) -> None:
    Job.objects.update(state=JobState.FAILED)
    with pytest.raises(NotReady, match="The type cannot be changed after the first render"):
        save_draft_step(by=priya, job=ready, changes={"type": "b-roll"})
    save_draft_step(by=priya, job=ready, changes={"voice_id": 7})
    ready.refresh_from_db()
    assert (ready.draft.settings["type"], ready.draft.settings["voice_id"]) == ("ai-visuals", 7)


def test_what_was_put_aside_comes_back_with_undo(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    browser, before = client_of(priya), ready.draft.settings
    answer = browser.post(step_url(ready, "type"), TO_B_ROLL, headers=HTMX)
    undo = f"/studio/{ready.pk}/type/undo/"
    assert f'action="{undo}"' in answer.content.decode()
    assert browser.post(undo).url == step_url(ready, "type")
    ready.refresh_from_db()
    assert ready.draft.settings == before
    browser.post(undo)
    assert "There is nothing to undo." in get_page(browser, step_url(ready, "type"))


def test_an_undo_of_another_draft_changes_nothing(
    priya: Membership, ready: Job, draft: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    browser.post(step_url(ready, "type"), TO_B_ROLL)
    browser.post(f"/studio/{draft.pk}/type/undo/")
    before = draft.draft.settings
    draft.refresh_from_db()
    assert draft.draft.settings == before


CLIPS_WIDE_ONLY: dict[str, Any] = {
    "mandatory": OPTIONS["mandatory"],
    "optional": {"clip_engines": [{"id": 9, "slug": "kite", "cost": [{"credits_per_second": 1}]}]},
}
WIDE_MODEL = {"slug": "kite", "modifiers": {"aspect_ratio": {"options": ["16:9"]}}}


def offer_wide_clips(job: Job) -> None:
    job.account.options, job.account.clip_models = CLIPS_WIDE_ONLY, [WIDE_MODEL]
    job.account.save()


def test_a_format_that_the_new_type_does_not_make_is_put_aside(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    offer_wide_clips(ready)
    Draft.objects.update(settings={**ready.draft.settings, "aspect_ratio": "tall-one"})
    browser = client_of(priya)
    to_clips = {"title": "Ice", "type": "ai-clips", "aspect_ratio": "tall-one"}
    html = browser.post(step_url(ready, "type"), to_clips, headers=HTMX).content.decode()
    assert "Put aside because AI clips does not use it: format, image engine." in html
    assert 'value="16:9"' in html  # the formats of the new type
    assert 'value="tall-one"' not in html
    ready.refresh_from_db()
    assert ready.draft.settings["type"] == "ai-clips"
    assert "aspect_ratio" not in ready.draft.settings


def test_a_format_that_the_type_does_not_make_is_refused(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    offer_wide_clips(ready)
    to_clips = {"title": "Ice", "type": "ai-clips", "aspect_ratio": "tall-one"}
    answer = client_of(priya).post(step_url(ready, "type"), to_clips)
    assert answer.status_code == 422
    assert "AI clips cannot be made in tall-one. Choose another format." in answer.content.decode()


def test_a_type_shows_what_the_last_renders_of_the_team_cost(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    assert "last renders" not in get_page(browser, step_url(ready, "type"))
    for cost in (90, 96, 150):
        job = JobFactory.create(
            account=ready.account, token=ready.token, length=60, draft__settings=WANTED
        )
        ChargeFactory.create(
            job=job,
            operation="faceless.render",
            state=ChargeState.CONFIRMED,
            sent_at=timezone.now(),
            settled_at=timezone.now(),
            cost=Decimal(cost),
        )
    html = " ".join(get_page(browser, step_url(ready, "type")).split())
    assert "last renders of about 60 s" in html
    assert re.search(r"≈ 96 .{0,60}for 60 s", html)
