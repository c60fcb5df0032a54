"""Drafts from a preset: on the same upstream, on another one, and without what is gone
(pitfalls 106 and 121)."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dashboard.models import DraftOrigin, Membership, Preset
from dashboard.studio.actions import start_draft
from dashboard.studio.kept_settings.new_drafts import remaining_fallback
from dashboard.studio.presets.actions.presets import set_default_preset, use_preset
from proxyapi.models import Account, Job, Token
from proxyapi.refusals import NotReady, TokenRefused
from tests.dashboard.studio.conftest import Browser, get_page, step_url
from tests.dashboard.studio.presets.conftest import (
    STYLED,
    one_line,
    store_options,
    with_other_ids,
    without_option,
)
from tests.factories import AccountFactory, TokenFactory

WORDS = ("title", "script")


def settings_of(job: Job) -> dict[str, object]:
    kept = Job.objects.get(pk=job.pk).draft.settings
    return {name: value for name, value in kept.items() if name != "title"}


def test_a_draft_gets_the_settings_and_opens_its_first_missing_step(
    priya: Membership, preset: Preset, client_of: Browser
) -> None:
    browser = client_of(priya)
    answer = browser.post(reverse("preset-drafts", args=[preset.pk]))
    job = Job.objects.exclude(draft__settings__has_key="script").get()
    assert answer.url == reverse("studio-draft", args=[job.pk])
    assert browser.get(answer.url).url == step_url(job, "script")
    assert settings_of(job) == {name: STYLED[name] for name in STYLED if name not in WORDS}
    preset.refresh_from_db()
    assert (preset.used_count, preset.last_used_at is not None) == (1, True)
    assert DraftOrigin.objects.get(job=job).preset == preset


def test_it_works_on_another_upstream_with_other_ids(
    priya: Membership, preset: Preset, token: Token
) -> None:
    store_options(token.account, with_other_ids())
    chosen = settings_of(use_preset(by=priya, preset=preset))
    assert (chosen["voice_id"], chosen["genre_id"], chosen["image_engine_id"]) == (5003, 5941, 5071)
    assert chosen["font"] == "f-1"


def test_what_is_gone_is_left_out_and_the_draft_asks_for_it(
    priya: Membership, preset: Preset, account: Account, client_of: Browser
) -> None:
    store_options(account, without_option("genres", "Cinematic"))
    job = use_preset(by=priya, preset=preset)
    assert "genre_id" not in settings_of(job)
    page = get_page(client_of(priya), step_url(job, "script"))
    assert "Left out, because the service no longer offers it: genre “Cinematic”." in page
    assert "To do:</span>\nChoose a genre" in page
    browser = client_of(priya)
    browser.post(step_url(job, "visuals"), {"genre_id": "942", "image_engine_id": "71"})
    assert "Left out" not in get_page(browser, step_url(job, "script"))


def test_a_voice_clone_of_another_account_is_left_out(
    priya: Membership, preset: Preset, account: Account
) -> None:
    preset.options["voice_id"]["account"] = "https://elsewhere.example/v2:7"
    assert "voice_id" not in settings_of(use_preset(by=priya, preset=preset))
    preset.options["voice_id"]["account"] = account.bucket
    assert settings_of(use_preset(by=priya, preset=preset))["voice_id"] == 3


def test_of_two_voices_with_a_name_that_of_the_language_is_taken(
    priya: Membership, preset: Preset, account: Account
) -> None:
    options = with_other_ids()
    twin = {"id": 1, "name": "Maren", "language": "French", "gender": "female"}
    options["mandatory"]["voices"].insert(0, twin)
    store_options(account, options)
    assert settings_of(use_preset(by=priya, preset=preset))["voice_id"] == 5003


def test_without_options_or_token_nothing_is_created(
    priya: Membership, luca: Membership, preset: Preset, account: Account, client_of: Browser
) -> None:
    with pytest.raises(TokenRefused):
        use_preset(by=luca, preset=preset)
    store_options(account, {})
    with pytest.raises(NotReady, match="not loaded yet"):
        use_preset(by=priya, preset=preset)
    answer = client_of(luca).post(reverse("preset-drafts", args=[preset.pk]), follow=True)
    assert "You have no token yet." in answer.content.decode()
    assert Job.objects.count() == 1
    preset.refresh_from_db()
    assert preset.used_count == 0


def test_new_drafts_start_with_the_members_default(
    priya: Membership, luca: Membership, preset: Preset, client_of: Browser
) -> None:
    url = reverse("preset-defaults", args=[preset.pk])
    client_of(priya).post(url)
    priya.refresh_from_db()
    luca.refresh_from_db()
    assert (priya.default_preset, luca.default_preset) == (preset, None)
    Preset.objects.update(options={"voice_id": {"slug": "theo", "name": "Theo"}})
    client_of(priya).post(reverse("drafts"), {"start": "How bees vote"})
    job = Job.objects.get(draft__settings__topic="How bees vote")
    # Not Maren, whom her last draft has.
    assert job.draft.settings["voice_id"] == 7
    assert DraftOrigin.objects.get(job=job).preset == preset
    client_of(priya).post(url)
    priya.refresh_from_db()
    assert priya.default_preset is None


def test_a_default_of_another_type_gives_what_both_types_have(
    priya: Membership, preset: Preset
) -> None:
    Preset.objects.filter(pk=preset.pk).update(type="b-roll")
    preset.refresh_from_db()
    set_default_preset(by=priya, preset=preset)
    chosen = {"type": "ai-visuals"}
    job = start_draft(by=priya, title="Bees", chosen=chosen, fallback={})
    settings = settings_of(job)
    assert (settings["type"], settings["voice_id"]) == ("ai-visuals", 3)
    assert "aspect_ratio" not in settings


def test_script_settings_of_the_preset_fill_the_form(
    priya: Membership, preset: Preset, client_of: Browser
) -> None:
    preset.script_request = {"duration": 180, "style": "Story"}
    job = use_preset(by=priya, preset=preset)
    page = get_page(client_of(priya), step_url(job, "script"))
    one_line = " ".join(page.split())
    assert '<option value="180" selected>3 min' in one_line
    assert '<option value="Story" selected>Story' in one_line


def test_the_default_is_gone_with_its_preset(
    priya: Membership, preset: Preset, client_of: Browser
) -> None:
    set_default_preset(by=priya, preset=preset)
    used = use_preset(by=priya, preset=preset)
    url = reverse("preset-removals", args=[preset.pk])
    assert "The draft or video made with it stays." in one_line(client_of(priya).get(url))
    client_of(priya).post(url)
    priya.refresh_from_db()
    assert (priya.default_preset, Job.objects.filter(pk=used.pk).exists()) == (None, True)
    assert not Preset.objects.exists()


def test_a_team_on_two_accounts_uses_the_members_own(luca: Membership, preset: Preset) -> None:
    account = AccountFactory.create(tenant=luca.team.tenant, options=with_other_ids())
    TokenFactory.create(account=account, owner=luca.user)
    job = use_preset(by=luca, preset=preset)
    assert job.account == account
    assert settings_of(job)["voice_id"] == 5003


def test_what_was_chosen_goes_before_the_preset_and_that_before_the_fallback(
    priya: Membership, preset: Preset
) -> None:
    fallback = {"voice_id": 11, "genre_id": 942, "transition": "fade"}
    job = start_draft(
        by=priya, title="Bees", chosen={"genre_id": 942}, preset=preset, fallback=fallback
    )
    chosen = settings_of(job)
    assert (chosen["voice_id"], chosen["genre_id"], chosen["transition"]) == (3, 942, "fade")


def test_a_fallback_does_not_fill_what_the_preset_had_to_leave_out(
    priya: Membership, preset: Preset, account: Account
) -> None:
    store_options(account, without_option("genres", "Cinematic"))
    job = start_draft(by=priya, title="Bees", chosen={}, preset=preset, fallback={"genre_id": 942})
    assert "genre_id" not in settings_of(job)
    assert DraftOrigin.objects.get(job=job).left_out == {"genre_id": "Cinematic"}


def test_the_resolution_of_another_engine_is_no_fallback() -> None:
    fallback = {"clip_engine_id": 9, "resolution": "720p", "audio": "on", "voice_id": 3}
    assert remaining_fallback(fallback, {"clip_engine_id"}) == {"voice_id": 3}
    assert remaining_fallback(fallback, {"voice_id"}).keys() == fallback.keys() - {"voice_id"}
