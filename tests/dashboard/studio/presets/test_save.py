"""Saving the settings of a draft or a video, by slug, never by id."""

from __future__ import annotations

import json
import re

from django.urls import reverse

from dashboard.models import AuditEvent, DraftOrigin, Membership, Preset
from dashboard.studio.presets.actions.presets import save_preset
from proxyapi.models import Account, Job, JobKind, JobState
from tests.dashboard.studio.conftest import SCRIPT, Browser
from tests.dashboard.studio.presets.conftest import ALL_GROUPS, store_options, without_option
from tests.factories import ChargeFactory, JobFactory


def save_url(job: Job) -> str:
    return reverse("preset-new", args=[job.pk])


def test_options_are_kept_by_slug_and_words_are_not(preset: Preset) -> None:
    assert preset.type == "ai-visuals"
    assert {name: kept["slug"] for name, kept in preset.options.items()} == {
        "aspect_ratio": "16:9",
        "voice_id": "maren",
        "genre_id": "x",
        "image_engine_id": "flux",
        "font": "f-1",
        "caption_effect": "e-9",
        "volume": "v-low",
    }
    stored = json.dumps([preset.options, preset.values, preset.script_request])
    assert "941" not in stored
    assert "71" not in stored
    assert SCRIPT[:7] not in stored
    assert "glacier" not in stored


def test_what_is_not_checked_is_not_kept(
    priya: Membership, styled: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(save_url(styled), {"name": " Ice   series ", "keep": ["genre"]})
    assert answer.url == reverse("presets")
    preset = Preset.objects.get()
    assert (preset.name, preset.options.keys()) == ("Ice series", {"aspect_ratio", "genre_id"})
    event = AuditEvent.objects.get()
    assert (event.action, event.after["options"]["genre_id"]) == ("preset.add", "x")


def test_the_dialog_shows_each_present_value(
    priya: Membership, styled: Job, client_of: Browser
) -> None:
    page = client_of(priya).get(save_url(styled), headers={"HX-Request": "true"}).content.decode()
    for words in ("AI visuals, 16:9", "Maren", "Flux", "Cinematic", "Serif, Karaoke", "Low"):
        assert words in page


def test_the_settings_of_a_written_script_are_kept_without_its_topic(
    priya: Membership, styled: Job
) -> None:
    body = {"topic": "Secret", "duration": 60, "style": "Story", "language": "English"}
    ChargeFactory.create(job=styled, operation="faceless.scripts", body=body)
    preset = save_preset(by=priya, job=styled, name="Ice", groups=["script"])
    assert preset.script_request == {"duration": 60, "style": "Story", "language": "English"}


def test_a_taken_name_asks_before_it_replaces(
    priya: Membership, preset: Preset, styled: Job, client_of: Browser
) -> None:
    browser, form = client_of(priya), {"name": "ICE SERIES", "keep": ["voice"]}
    answer = browser.post(save_url(styled), form)
    assert answer.status_code == 422
    assert "“Ice series” exists. Replace it, or use another name." in answer.content.decode()
    assert browser.post(save_url(styled), {**form, "replaces": preset.pk}).status_code == 302
    preset.refresh_from_db()
    assert preset.options.keys() == {"aspect_ratio", "voice_id"}
    assert preset.name == "Ice series"
    assert Preset.objects.count() == 1


def test_another_preset_than_the_shown_one_is_not_replaced(
    priya: Membership, preset: Preset, styled: Job, client_of: Browser
) -> None:
    """Between question and answer the name went to another preset."""
    other = save_preset(by=priya, job=styled, name="Other", groups=ALL_GROUPS)
    form = {"name": "Ice series", "keep": ["voice"], "replaces": other.pk}
    assert client_of(priya).post(save_url(styled), form).status_code == 422
    preset.refresh_from_db()
    assert "genre_id" in preset.options


def test_names_right_to_left_are_kept_and_long_ones_are_a_sentence(
    priya: Membership, styled: Job, client_of: Browser
) -> None:
    browser, hebrew = client_of(priya), "סדרת הקרח 2026"
    browser.post(save_url(styled), {"name": hebrew})
    assert Preset.objects.get().name == hebrew
    assert f"<bdi>{hebrew}</bdi>" in browser.get(reverse("presets")).content.decode()
    refused = browser.post(save_url(styled), {"name": "x" * 100, "keep": ["genre"]})
    page = refused.content.decode()
    assert "At most 60 characters are allowed (now 100)." in page
    assert "x" * 100 in page
    turned = browser.post(save_url(styled), {"name": "Ice \u202egnp"})
    assert "invisible character" in turned.content.decode()


def test_a_value_that_the_service_no_longer_offers_cannot_be_kept(
    priya: Membership, styled: Job, account: Account, client_of: Browser
) -> None:
    store_options(account, without_option("genres", "Cinematic"))
    page = client_of(priya).get(save_url(styled)).content.decode()
    assert "No longer offered by the service" in page
    client_of(priya).post(save_url(styled), {"name": "Ice", "keep": ["genre", "voice"]})
    assert "genre_id" not in Preset.objects.get().options


def test_a_voice_clone_is_kept_with_its_account(
    priya: Membership, styled: Job, account: Account
) -> None:
    JobFactory.create(
        account=account, token=styled.token, kind=JobKind.CLONE, title="Maren", draft=None
    )
    preset = save_preset(by=priya, job=styled, name="Ice", groups=["voice"])
    assert preset.options["voice_id"]["account"] == account.bucket


def test_a_video_that_was_not_made_here_has_no_settings_to_keep(
    priya: Membership, styled: Job, client_of: Browser
) -> None:
    other = JobFactory.create(account=styled.account, token=styled.token, draft=None)
    page = client_of(priya).get(save_url(other)).content.decode()
    assert "its settings are not known here" in page
    assert client_of(priya).post(save_url(other), {"name": "Ice"}).status_code == 422


def test_a_finished_video_is_saved_like_a_draft(
    priya: Membership, styled: Job, client_of: Browser
) -> None:
    Job.objects.filter(pk=styled.pk).update(state=JobState.COMPLETED, media_url="https://x/a.mp4")
    menu = client_of(priya).get(reverse("video-menu", args=[styled.pk]))
    assert save_url(styled) in menu.content.decode()
    client_of(priya).post(save_url(styled), {"name": "Ice", "keep": ["genre"]})
    assert Preset.objects.get().picture_of == styled


def test_captions_of_the_brand_kit_are_kept_as_a_reference(priya: Membership, styled: Job) -> None:
    DraftOrigin.objects.create(
        job=styled, uses_brand_kit=True, kit_values={"font": "f-1", "caption_effect": "other"}
    )
    preset = save_preset(by=priya, job=styled, name="Ice", groups=["captions"])
    assert preset.uses_brand_kit
    # The effect was changed by hand, so it is the preset's own.
    assert preset.options.keys() == {"aspect_ratio", "caption_effect"}


def test_the_page_below_a_dialog_stays_until_something_was_saved(
    priya: Membership, preset: Preset, styled: Job, client_of: Browser
) -> None:
    browser, url = client_of(priya), save_url(styled)
    over_a_step = {"HX-Request": "true", "HX-Current-URL": "http://testserver/studio/x/visuals/"}
    form = {"name": "ICE SERIES", "keep": ["voice"]}
    refused = browser.post(url, form, headers=over_a_step)
    page = refused.content.decode()
    assert refused.status_code == 200
    assert f'hx-post="{url}" hx-target="#question"' in page
    assert page.count('name="replaces"') == 1
    assert 'value="ICE SERIES"' in page
    assert re.findall(r'name="keep" value="(\w+)" checked', page) == ["type", "voice"]
    form["replaces"] = str(preset.pk)
    assert browser.post(url, form, headers=over_a_step)["HX-Refresh"] == "true"
    removal = reverse("preset-removals", args=[preset.pk])
    alone = {**over_a_step, "HX-Current-URL": f"http://testserver{removal}"}
    assert browser.post(removal, headers=alone)["HX-Redirect"] == reverse("presets")
