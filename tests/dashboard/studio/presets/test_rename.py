"""Rename, duplicate, change and delete; two people at the same time."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dashboard.models import AuditEvent, Membership, Preset
from dashboard.studio.presets.actions.presets import (
    MAX_PRESETS_PER_TEAM,
    duplicate_preset,
    name_of_copy,
    save_preset,
)
from proxyapi.models import Account, Job
from tests.dashboard.studio.conftest import Browser
from tests.dashboard.studio.presets.conftest import store_options, without_option
from tests.factories import PresetFactory

pytestmark = pytest.mark.usefixtures("template_contexts")
LIST = reverse("presets")


def act_url(preset: Preset, act: str) -> str:
    return reverse(f"preset-{act}", args=[preset.pk])


def test_a_name_is_a_field_in_its_row(
    priya: Membership, preset: Preset, client_of: Browser
) -> None:
    browser = client_of(priya)
    page = browser.get(LIST, {"renaming": preset.pk, "q": "ice"}).content.decode()
    assert f'action="{act_url(preset, "names")}?q=ice"' in page
    answer = browser.post(
        f"{act_url(preset, 'names')}?q=ice", {"name": "סדרת הקרח", "seen": "Ice series"}
    )
    assert answer.url == f"{LIST}?q=ice"
    preset.refresh_from_db()
    assert preset.name == "סדרת הקרח"
    event = AuditEvent.objects.get(action="preset.change")
    assert (event.before, event.after) == ({"name": "Ice series"}, {"name": "סדרת הקרח"})


def test_two_people_rename_and_the_second_is_asked_again(
    priya: Membership, luca: Membership, preset: Preset, client_of: Browser
) -> None:
    client_of(luca).post(act_url(preset, "names"), {"name": "Sea", "seen": "Ice series"})
    browser = client_of(priya)
    form = {"name": "Glaciers", "seen": "Ice series"}
    answer = browser.post(act_url(preset, "names"), form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "It was renamed to “Sea” in another window or by somebody else. Save again" in page
    assert 'value="Glaciers"' in " ".join(page.split())
    preset.refresh_from_db()
    assert preset.name == "Sea"
    browser.post(act_url(preset, "names"), {"name": "Glaciers", "seen": "Sea"})
    preset.refresh_from_db()
    assert preset.name == "Glaciers"


def test_a_taken_or_empty_name_is_a_sentence(
    priya: Membership, preset: Preset, client_of: Browser
) -> None:
    PresetFactory.create(team=priya.team, created_by=priya.user, name="Sea")
    for name, sentence in (("sea", "“Sea” exists. Use another name."), ("  ", "Enter a name")):
        answer = client_of(priya).post(
            act_url(preset, "names"), {"name": name, "seen": "Ice series"}
        )
        assert sentence in answer.content.decode()
    preset.refresh_from_db()
    assert preset.name == "Ice series"


def test_a_name_may_change_its_case(priya: Membership, preset: Preset, client_of: Browser) -> None:
    form = {"name": "ICE series", "seen": "Ice series"}
    client_of(priya).post(act_url(preset, "names"), form)
    preset.refresh_from_db()
    assert preset.name == "ICE series"


def test_a_copy_has_a_name_of_its_own(
    priya: Membership, preset: Preset, client_of: Browser
) -> None:
    preset.missing = {"voice_id": None}
    preset.used_count = 7
    preset.save()
    client_of(priya).post(act_url(preset, "copies"))
    copy = Preset.objects.get(name="Ice series copy")
    assert (copy.options, copy.missing, copy.used_count) == (preset.options, preset.missing, 0)
    assert duplicate_preset(by=priya, preset=preset).name == "Ice series copy 2"
    assert name_of_copy("x" * 60, []) == "x" * 55 + " copy"


def test_a_team_has_a_limit_of_presets(
    priya: Membership, preset: Preset, styled: Job, client_of: Browser
) -> None:
    PresetFactory.create_batch(MAX_PRESETS_PER_TEAM - 1, team=priya.team, created_by=priya.user)
    answer = client_of(priya).post(act_url(preset, "copies"), follow=True)
    assert "A team can have 200 presets. Delete one first." in answer.content.decode()
    form = {"name": "One more"}
    saved = client_of(priya).post(reverse("preset-new", args=[styled.pk]), form)
    assert "A team can have 200 presets." in saved.content.decode()
    assert Preset.objects.count() == MAX_PRESETS_PER_TEAM


def test_what_is_kept_can_be_changed(priya: Membership, preset: Preset, client_of: Browser) -> None:
    browser, url = client_of(priya), reverse("preset", args=[preset.pk])
    form = browser.get(url).context["form"]
    values = {name: form[name].value() for name in form.fields}
    answer = browser.post(url, {**values, "genre_id": "noir", "font": "", "volume": "v-low"})
    assert answer.url == LIST
    preset.refresh_from_db()
    assert preset.options["genre_id"]["name"] == "Noir"
    assert "font" not in preset.options
    assert preset.options["voice_id"]["slug"] == "maren"


def test_a_change_of_someone_else_is_not_overwritten(
    priya: Membership, luca: Membership, preset: Preset, client_of: Browser
) -> None:
    url = reverse("preset", args=[preset.pk])
    form = client_of(priya).get(url).context["form"]
    values = {name: form[name].value() for name in form.fields}
    client_of(luca).post(url, {**values, "genre_id": "noir"})
    answer = client_of(priya).post(url, {**values, "font": ""})
    page = answer.content.decode()
    assert "This preset was changed in another window or by somebody else." in page
    assert '<option value="noir" selected>' in page
    preset.refresh_from_db()
    assert preset.options["genre_id"]["slug"] == "noir"
    assert "font" in preset.options


def test_an_option_that_is_gone_stays_until_it_is_changed(
    priya: Membership, preset: Preset, account: Account, client_of: Browser
) -> None:
    store_options(account, without_option("genres", "Cinematic"))
    Preset.objects.update(missing={"genre_id": None})
    browser, url = client_of(priya), reverse("preset", args=[preset.pk])
    form = browser.get(url).context["form"]
    values = {name: form[name].value() for name in form.fields}
    browser.post(url, {**values, "font": ""})
    preset.refresh_from_db()
    assert preset.options["genre_id"]["name"] == "Cinematic"
    assert preset.missing == {"genre_id": None}


def test_a_viewer_reads_what_is_kept(vera: Membership, preset: Preset, client_of: Browser) -> None:
    url = reverse("preset", args=[preset.pk])
    page = client_of(vera).get(url, headers={"HX-Request": "true"}).content.decode()
    assert "<dt>Voice</dt><dd>Maren</dd>" in page
    assert "<select" not in page
    assert "Save" not in page


def test_a_deleted_preset_is_named_in_the_audit_log(
    priya: Membership, styled: Job, client_of: Browser
) -> None:
    preset = save_preset(by=priya, job=styled, name="Ice", groups=())
    client_of(priya).post(act_url(preset, "removals"))
    assert AuditEvent.objects.get(action="preset.remove").before["name"] == "Ice"
