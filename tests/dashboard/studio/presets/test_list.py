"""The list: order, search, filters, roles, its size, and that viewing it requests nothing."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import Membership, Preset
from dashboard.studio.flows import FLOWS
from dashboard.studio.kept_settings.groups import FORMAT_FIELD, SETTING_GROUPS
from dashboard.studio.presets.queries.list import PAGE_SIZE
from proxyapi.events import EventType
from proxyapi.models import Account
from tests.dashboard.studio.conftest import Browser
from tests.dashboard.studio.presets.conftest import one_line
from tests.factories import PresetFactory

pytestmark = pytest.mark.usefixtures("template_contexts")
LIST = reverse("presets")


@pytest.fixture
def several(priya: Membership, luca: Membership, account: Account) -> None:
    rows = (
        ("Sea series", "ai-visuals", priya, "Amelia Hart", 3),
        ("Shorts, food", "b-roll", luca, "Callum Fraser", 31),
        ("Deep dive", "ai-visuals", luca, "Ruth Adeyemi", 0),
    )
    for name, type_, by, voice, used in rows:
        options = {"voice_id": {"slug": "x", "name": voice}}
        PresetFactory.create(
            team=priya.team,
            created_by=by.user,
            name=name,
            type=type_,
            options=options,
            used_count=used,
        )


def names(browser: Any, **query: str) -> list[str]:
    return [row["card"].name for row in browser.get(LIST, query).context["presets"]]


@pytest.mark.usefixtures("several")
def test_the_most_used_come_first_and_filters_narrow(
    priya: Membership, luca: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    assert names(browser) == ["Shorts, food", "Sea series", "Deep dive"]
    assert names(browser, q="ruth") == ["Deep dive"]
    assert names(browser, q="SEA amelia") == ["Sea series"]
    assert names(browser, type="b-roll") == ["Shorts, food"]
    assert names(browser, member=str(luca.user_id)) == ["Shorts, food", "Deep dive"]
    assert names(browser, type="nonsense", member="x", offset="-1") == names(browser)
    assert "No results" in browser.get(LIST, {"q": "nothing"}).content.decode()


@pytest.mark.usefixtures("several")
def test_a_viewer_sees_presets_and_no_acts(vera: Membership, client_of: Browser) -> None:
    page = one_line(client_of(vera).get(LIST))
    assert "Deep dive" in page
    for words in ("Compare now", "New preset", "Rename", ">Use<", "preset-acts"):
        assert words not in page
    assert "Owners, admins and producers use and change them." in page


def test_an_empty_list_says_how_to_begin(
    priya: Membership, vera: Membership, client_of: Browser
) -> None:
    page = client_of(priya).get(LIST).content.decode()
    assert "No presets yet" in page
    assert reverse("preset-sources") in page
    assert "No presets yet" in client_of(vera).get(LIST).content.decode()


def test_sources_are_the_last_drafts_own_ones_first(
    priya: Membership, preset: Preset, client_of: Browser
) -> None:
    page = client_of(priya).get(reverse("preset-sources")).content.decode()
    assert reverse("preset-new", args=[preset.picture_of_id]) in page


def test_pages_are_light(
    priya: Membership, client_of: Browser, django_assert_max_num_queries: Any, account: Account
) -> None:
    for number in range(PAGE_SIZE + 5):
        options = {
            field: {"slug": f"{field}-{number}", "name": f"A long name of an option {number}"}
            for field in ("voice_id", "genre_id", "aspect_ratio")
        }
        PresetFactory.create(
            team=priya.team,
            created_by=priya.user,
            name=f"A long name of a series of videos about the sea, {number}",
            options=options,
            missing={"genre_id": {"slug": "noir", "name": "Noir", "rule": "by name"}},
        )
    browser = client_of(priya)
    with django_assert_max_num_queries(12):
        first = browser.get(LIST)
    assert len(gzip.compress(first.content)) < 20_000  # style sheets and scripts take the rest
    second = browser.get(first.context["list"].next_url)
    assert len(second.context["presets"]) == 5
    edit = reverse("preset", args=[Preset.objects.all()[0].pk])
    with django_assert_max_num_queries(12):
        browser.get(edit)


def test_a_change_is_pushed_to_open_pages(
    priya: Membership, preset: Preset, client_of: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[EventType] = []
    monkeypatch.setattr(
        "dashboard.studio.presets.actions.presets.publish_event",
        lambda _tenant, event, _id: told.append(event),
    )
    client_of(priya).post(
        reverse("preset-names", args=[preset.pk]), {"name": "New", "seen": preset.name}
    )
    assert told == [EventType.PRESET]
    assert "reelroom:preset" in client_of(priya).get(LIST).content.decode()


def test_every_kept_setting_has_a_group() -> None:
    """A new option of a flow must be kept, too; only the words of a video are not."""
    grouped = {name for group in SETTING_GROUPS for name in (*group.options, *group.values)}
    for flow in FLOWS.values():
        assert flow.settings.keys() - {FORMAT_FIELD} <= grouped, flow.type
