"""What the service no longer offers, and the nearest replacement."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from dashboard import tasks
from dashboard.models import AuditEvent, Membership, Preset
from dashboard.studio.kept_settings.kept_option import KeptOption
from dashboard.studio.kept_settings.replacements import find_replacement
from dashboard.studio.presets.actions.comparison import compare_now
from dashboard.studio.presets.actions.presets import replace_missing_option, use_preset
from proxyapi.models import Account
from proxyapi.refusals import NotReady, StaleData
from tests.dashboard.studio.conftest import Browser
from tests.dashboard.studio.presets.conftest import (
    one_line,
    store_options,
    with_other_ids,
    without_option,
)
from tests.factories import AccountFactory, TokenFactory

pytestmark = [pytest.mark.usefixtures("template_contexts"), pytest.mark.postgresql]
LIST = reverse("presets")


def option(name: str, **traits: str) -> KeptOption:
    return KeptOption(name.lower().replace(" ", "-"), name, **traits)


VOICES = [
    option("Marcus", language="English", gender="male"),
    option("Amelia", language="English, German", gender="female"),
    option("Camille", language="French", gender="female"),
]


@pytest.mark.parametrize(
    ("gone", "nearest", "rule"),
    [
        (option("Oliver", language="English", gender="male"), "Marcus", "by language and gender"),
        (option("Lena", language="German", gender="female"), "Amelia", "by language and gender"),
        (option("Jean", language="French", gender="male"), "Camille", "by language"),
        (option("Lucía", language="Spanish", gender="female"), None, ""),
    ],
)
def test_a_voice_is_near_by_language_then_gender(
    gone: KeptOption, nearest: str | None, rule: str
) -> None:
    found = find_replacement("voice_id", gone, VOICES, Counter())
    assert (found.option.name if found else None) == nearest
    assert (found.rule if found else "") == rule


def test_of_equally_near_voices_the_more_used_one_is_taken() -> None:
    twin = option("Callum", language="English", gender="male")
    gone = option("Oliver", language="English", gender="male")
    found = find_replacement("voice_id", gone, [*VOICES, twin], Counter(callum=3, marcus=1))
    assert found is not None
    assert found.option == twin


@pytest.mark.parametrize(("uses", "nearest"), [({}, None), ({"noir": 2, "anime": 5}, "Anime")])
def test_a_genre_without_a_near_name_is_what_the_team_used_most(
    uses: dict[str, int], nearest: str | None
) -> None:
    genres = [option("Noir"), option("Anime"), option("Cinematic II")]
    named = find_replacement("genre_id", option("Cinematic"), genres, Counter(uses))
    assert named is not None
    assert named.option.name == "Cinematic II"
    found = find_replacement("genre_id", option("Oil Paint"), genres, Counter(uses))
    assert (found.option.name if found else None) == nearest


def test_an_engine_is_near_by_price() -> None:
    engines = [option("A", price="0.68"), option("B", price="2.04"), option("C", price="12.16")]
    found = find_replacement("clip_engine_id", option("Gone", price="2.72"), engines, Counter())
    assert found is not None
    assert found.option.name == "B"
    assert find_replacement("clip_engine_id", option("Gone"), engines, Counter()) is None


def test_a_comparison_finds_what_is_gone(
    priya: Membership, preset: Preset, account: Account, client_of: Browser
) -> None:
    store_options(account, without_option("voices", "Maren"))
    client_of(priya).post(reverse("preset-comparisons"))
    preset.refresh_from_db()
    assert preset.missing.keys() == {"voice_id"}
    assert preset.missing["voice_id"]["name"] == "Theo"
    page = one_line(client_of(priya).get(LIST))
    assert f'hx-post="{reverse("preset-comparisons")}"' in page
    assert f'hx-post="{reverse("preset-replacements", args=[preset.pk])}"' in page
    assert 'name="option" value="voice_id/theo"' in page
    assert "1 of 1 preset uses something that the service no longer offers." in page
    assert '<span class="gone">Maren</span>' in page
    assert "Replace with Theo" in page


def test_taking_the_replacement_ends_the_drift(
    priya: Membership, preset: Preset, account: Account, client_of: Browser
) -> None:
    store_options(account, without_option("voices", "Maren"))
    compare_now(priya)
    url = reverse("preset-replacements", args=[preset.pk])
    client_of(priya).post(url, {"option": "voice_id/theo"})
    preset.refresh_from_db()
    assert (preset.options["voice_id"]["slug"], preset.missing) == ("theo", {})
    assert use_preset(by=priya, preset=preset).draft.settings["voice_id"] == 7
    event = AuditEvent.objects.filter(action="preset.change").get()
    assert event.before["options"]["voice_id"] == "maren"
    assert event.after["options"]["voice_id"] == "theo"
    with pytest.raises(StaleData):
        replace_missing_option(by=priya, preset=preset, field="voice_id", slug="theo")


def test_choosing_another_one_ends_the_drift(
    priya: Membership, preset: Preset, account: Account, client_of: Browser
) -> None:
    store_options(account, without_option("voices", "Maren"))
    compare_now(priya)
    url, browser = f"{reverse('preset', args=[preset.pk])}?field=voice_id", client_of(priya)
    page = browser.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "Maren (no longer offered)" in page
    assert "Genre" not in page
    form = browser.get(url).context["form"]
    browser.post(url, {"voice_id": "aurélie", "seen": form["seen"].value()})
    preset.refresh_from_db()
    assert (preset.options["voice_id"]["name"], preset.missing) == ("Aurélie", {})
    assert "genre_id" in preset.options


def test_an_option_that_one_account_of_the_team_has_is_no_drift(
    priya: Membership, luca: Membership, preset: Preset, account: Account
) -> None:
    store_options(account, without_option("voices", "Maren"))
    other = AccountFactory.create(
        tenant=priya.team.tenant, options=with_other_ids(), options_as_of=timezone.now()
    )
    TokenFactory.create(account=other, owner=luca.user)
    compare_now(priya)
    preset.refresh_from_db()
    assert preset.missing == {}


def test_an_option_that_returns_is_no_drift_any_more(
    priya: Membership, preset: Preset, account: Account
) -> None:
    store_options(account, without_option("voices", "Maren"))
    compare_now(priya)
    store_options(account, with_other_ids())
    compare_now(priya)
    preset.refresh_from_db()
    assert preset.missing == {}


@pytest.mark.parametrize("stale", [{"options": {}}, {"options_as_of": None}])
def test_without_options_nothing_is_decided(
    priya: Membership, preset: Preset, account: Account, stale: dict[str, Any], client_of: Browser
) -> None:
    Account.objects.filter(pk=account.pk).update(**stale)
    Preset.objects.update(compared_at=timezone.now() - timedelta(days=2))
    with pytest.raises(NotReady, match="nothing was compared"):
        compare_now(priya)
    preset.refresh_from_db()
    assert preset.missing == {}
    assert "Not compared since" in client_of(priya).get(LIST).content.decode()


@pytest.mark.parametrize(
    ("compared_at", "is_due"), [("2026-11-24T04:59Z", True), ("2026-11-24T05:01Z", False)]
)
def test_presets_are_compared_once_after_six_of_the_team(
    priya: Membership, preset: Preset, account: Account, compared_at: str, is_due: bool
) -> None:
    """Six in Berlin is five in UTC."""
    tenant = priya.team.tenant
    tenant.time_zone = "Europe/Berlin"
    tenant.save()
    then, now = datetime.fromisoformat(compared_at), datetime(2026, 11, 24, 8, 0, tzinfo=UTC)
    Preset.objects.update(compared_at=then)
    with time_machine.travel(now, tick=False):
        store_options(account, without_option("voices", "Maren"))
        tasks.compare_presets_of_team(str(priya.team_id))
    preset.refresh_from_db()
    assert bool(preset.missing) == is_due
    assert (preset.compared_at == now) == is_due


def test_the_periodic_task_takes_teams_with_presets(
    preset: Preset, otto: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(tasks.compare_presets_of_team, "delay", asked.append)
    tasks.compare_all_presets()
    assert asked == [str(preset.team_id)]


def test_a_clone_of_an_account_that_was_not_read_is_not_decided(
    priya: Membership, preset: Preset, account: Account
) -> None:
    for owner, gone in (
        (f"{account.environment}:999", False),
        ("https://old.example/v2:999", True),
    ):
        preset.options["voice_id"]["account"] = owner
        preset.save()
        compare_now(priya)
        preset.refresh_from_db()
        assert ("voice_id" in preset.missing) == gone
