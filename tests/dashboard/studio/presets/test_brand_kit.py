"""The brand kit: set by admins, switched on and off in a draft, followed by presets."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import AuditEvent, BrandKit, DraftOrigin, Membership, Preset
from dashboard.studio.actions import save_draft_step, start_draft
from dashboard.studio.presets.actions.brand_kit import apply_brand_kit, remove_brand_kit
from dashboard.studio.presets.actions.presets import save_preset, use_preset
from proxyapi.models import Account, Draft, Job, JobState, Token
from proxyapi.refusals import NotReady
from tests.dashboard.studio.conftest import Browser, get_page, step_url
from tests.dashboard.studio.presets.conftest import store_options, with_other_ids

pytestmark = pytest.mark.postgresql

KIT = reverse("brand-kit")
SERIF = {"slug": "f-1", "name": "Serif"}
KARAOKE = {"slug": "e-9", "name": "Karaoke"}


@pytest.fixture
def kit(priya: Membership) -> BrandKit:
    return BrandKit.objects.create(
        team=priya.team,
        options={"font": SERIF, "caption_effect": KARAOKE},
        applies_to_new_drafts=False,
        changed_by=priya.user,
    )


def settings_of(job: Job) -> dict[str, Any]:
    return dict(Draft.objects.get(pk=job.pk).settings)


def reloaded(job: Job) -> Job:
    return Job.objects.select_related("account", "draft").get(pk=job.pk)


def test_an_admin_sets_the_kit(jonas: Membership, token: Token, client_of: Browser) -> None:
    browser = client_of(jonas)
    form = {"font": "f-1", "caption_effect": "", "applies_to_new_drafts": "on"}
    assert browser.post(KIT, form).url == reverse("presets")
    kit = BrandKit.objects.get()
    assert (kit.options, kit.applies_to_new_drafts) == ({"font": SERIF}, True)
    browser.post(KIT, {"font": "f-1", "caption_effect": "e-9"})
    kit.refresh_from_db()
    assert kit.options.keys() == {"font", "caption_effect"}
    assert not kit.applies_to_new_drafts
    event = AuditEvent.objects.order_by("position").last()
    assert event is not None
    assert (event.before["font"], event.after["caption_effect"]) == ("f-1", "e-9")


def test_the_dialog_shows_the_samples_of_the_studio(
    jonas: Membership, token: Token, kit: BrandKit, client_of: Browser
) -> None:
    """What the kit leaves to each draft is one of them; the chosen one is checked."""
    dialog = get_page(client_of(jonas), KIT).split('id="question"')[1]
    fonts = dialog.split('id="kit_font"')[1].split("</fieldset>")[0]
    assert 'data-sample="font"' in fonts and "data-face=" in fonts
    checked = re.findall(r'name="font" value="([^"]*)" checked', fonts)
    assert checked == ["f-1"]
    assert 'name="font" value=""' in fonts and "Left to each draft" in fonts
    assert '<select name="font"' not in dialog


def test_an_unknown_option_is_a_sentence(
    jonas: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(jonas).post(KIT, {"font": "wingdings"})
    assert answer.status_code == 422
    assert not BrandKit.objects.exists()


def test_switching_on_sets_the_fields_and_off_gives_them_back(
    priya: Membership, kit: BrandKit, ready: Job, client_of: Browser
) -> None:
    Draft.objects.filter(pk=ready.pk).update(settings={**settings_of(ready), "font": "old"})
    browser, url = client_of(priya), reverse("draft-brand-kit", args=[ready.pk])
    answer = browser.post(url, {"on": "1", "step": "captions"})
    assert answer.url == step_url(ready, "captions")
    chosen = settings_of(ready)
    assert (chosen["font"], chosen["caption_effect"]) == ("f-1", "e-9")
    page = " ".join(get_page(browser, answer.url).split())
    assert "Font <b>Serif</b>, from the brand kit" in page
    assert 'aria-checked="true"' in page
    browser.post(url, {"step": "captions"})
    chosen = settings_of(ready)
    assert chosen["font"] == "old"
    assert "caption_effect" not in chosen
    assert 'aria-checked="false"' in get_page(browser, answer.url)


def test_what_is_changed_by_hand_is_from_you_and_stays(
    priya: Membership, kit: BrandKit, ready: Job, client_of: Browser
) -> None:
    apply_brand_kit(by=priya, job=ready)
    save_draft_step(by=priya, job=ready, changes={"font": "by-hand"})
    page = " ".join(get_page(client_of(priya), step_url(ready, "captions")).split())
    assert "Font <b>by-hand</b>, from you" in page
    assert "Caption effect <b>Karaoke</b>, from the brand kit" in page
    remove_brand_kit(by=priya, job=reloaded(ready))
    chosen = settings_of(ready)
    assert chosen["font"] == "by-hand"
    assert "caption_effect" not in chosen


def test_a_value_that_the_service_has_stays_as_the_drafts_own(
    priya: Membership, kit: BrandKit, ready: Job
) -> None:
    """The service keeps a setting that is sent no more; emptied, the draft would say otherwise."""
    apply_brand_kit(by=priya, job=ready)
    Draft.objects.filter(pk=ready.pk).update(sent_settings=settings_of(ready))
    remove_brand_kit(by=priya, job=reloaded(ready))
    assert settings_of(ready)["font"] == "f-1"
    assert not DraftOrigin.objects.get(job=ready).uses_brand_kit


def test_a_new_draft_gets_the_kit_if_the_team_says_so(
    priya: Membership, kit: BrandKit, token: Token
) -> None:
    arguments: dict[str, Any] = {"by": priya, "title": "Bees", "chosen": {"type": "ai-visuals"}}
    plain = start_draft(**arguments, fallback={})
    assert "font" not in settings_of(plain)
    assert not DraftOrigin.objects.exists()
    BrandKit.objects.update(applies_to_new_drafts=True)
    branded = start_draft(**arguments, fallback={})
    assert settings_of(branded)["font"] == "f-1"
    copied = start_draft(**arguments)
    assert "font" not in settings_of(copied)
    remove_brand_kit(by=priya, job=reloaded(branded))
    assert "font" not in settings_of(branded)
    again = start_draft(**{**arguments, "fallback": {"font": "last"}})
    assert settings_of(again)["font"] == "f-1"
    remove_brand_kit(by=priya, job=reloaded(again))
    assert settings_of(again)["font"] == "last"


def test_the_kit_works_on_another_upstream(
    priya: Membership, kit: BrandKit, ready: Job, account: Account
) -> None:
    options = with_other_ids()
    options["optional"]["fonts"] = []
    store_options(account, options)
    apply_brand_kit(by=priya, job=reloaded(ready))
    chosen = settings_of(ready)
    assert "font" not in chosen
    assert chosen["caption_effect"] == "e-9"


def test_a_preset_follows_the_kit_when_it_changes(
    priya: Membership, kit: BrandKit, ready: Job, account: Account
) -> None:
    apply_brand_kit(by=priya, job=ready)
    preset = save_preset(by=priya, job=reloaded(ready), name="Ice", groups=["captions"])
    assert (preset.uses_brand_kit, preset.options.keys()) == (True, {"aspect_ratio"})
    kit.options = {"caption_effect": KARAOKE}
    kit.save()
    chosen = settings_of(use_preset(by=priya, preset=preset))
    assert (chosen.get("font"), chosen["caption_effect"]) == (None, "e-9")


def test_what_a_preset_keeps_goes_before_the_kit(
    priya: Membership, kit: BrandKit, ready: Job, account: Account
) -> None:
    BrandKit.objects.update(applies_to_new_drafts=True)
    options = with_other_ids()
    options["optional"]["fonts"].append({"name": "Mono", "slug": "mono"})
    store_options(account, options)
    own = {"font": {"slug": "mono", "name": "Mono"}}
    preset = Preset.objects.create(
        team=priya.team, name="Own", type="ai-visuals", options=own, created_by=priya.user
    )
    job = use_preset(by=priya, preset=preset)
    chosen = settings_of(job)
    assert (chosen["font"], chosen["caption_effect"]) == ("mono", "e-9")
    assert DraftOrigin.objects.get(job=job).kit_values == {"caption_effect": "e-9"}


def test_a_video_that_was_sent_is_not_changed(
    priya: Membership, kit: BrandKit, ready: Job, client_of: Browser
) -> None:
    Job.objects.filter(pk=ready.pk).update(state=JobState.RUNNING, next_poll_at=ready.created_at)
    with pytest.raises(NotReady):
        apply_brand_kit(by=priya, job=reloaded(ready))
    url = reverse("draft-brand-kit", args=[ready.pk])
    page = client_of(priya).post(url, {"on": "1"}, follow=True).content.decode()
    assert "was sent" in page
    assert "font" not in settings_of(ready)
    assert not DraftOrigin.objects.filter(uses_brand_kit=True).exists()


def test_only_members_who_may_set_it_are_asked_to_set_one_up(
    priya: Membership, jonas: Membership, ready: Job, client_of: Browser
) -> None:
    assert "Set up a brand kit" in get_page(client_of(jonas), step_url(ready, "captions"))
    assert "brand kit" not in get_page(client_of(priya), step_url(ready, "captions"))
