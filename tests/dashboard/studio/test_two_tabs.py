"""Two tabs, two people: nobody overwrites the other unseen, and nothing typed is lost."""

from __future__ import annotations

import re

from django.test import Client

from dashboard.models import Membership
from proxyapi.models import ChargeState, Job
from tests.dashboard.studio.conftest import Browser, get_page, step_url
from tests.factories import ChargeFactory

HTMX = {"HX-Request": "true"}


def marks(browser: Client, url: str) -> dict[str, str]:
    """The hidden fields that say what a form was drawn from."""
    html = get_page(browser, url)
    found = re.findall(r'name="(edited_at|seen)" value="([^"]+)"', html)
    assert len(found) == 2
    return dict(found)


def test_the_second_tab_sees_that_the_step_changed(
    priya: Membership, luca: Membership, ready: Job, client_of: Browser
) -> None:
    """pitfall_120"""
    early = marks(client_of(priya), step_url(ready, "script"))
    client_of(luca).post(step_url(ready, "script"), {"script": "Luca's words."})
    answer = client_of(priya).post(step_url(ready, "script"), {"script": "Priya's words.", **early})
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "This draft was changed in another window or by somebody else." in html
    assert "Priya&#x27;s words." in html
    ready.refresh_from_db()
    assert ready.draft.settings["script"] == "Luca's words."


def test_a_second_save_means_it(
    priya: Membership, luca: Membership, ready: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    early = marks(browser, step_url(ready, "voice"))
    client_of(luca).post(step_url(ready, "voice"), {"voice_id": "7"})
    refused = browser.post(step_url(ready, "voice"), {"voice_id": "11", **early}).content.decode()
    again = dict(re.findall(r'name="(edited_at|seen)" value="([^"]+)"', refused))
    answer = browser.post(step_url(ready, "voice"), {"voice_id": "11", **again})
    assert answer.status_code == 302
    ready.refresh_from_db()
    assert ready.draft.settings["voice_id"] == 11


def test_two_people_in_different_steps_do_not_disturb_each_other(
    priya: Membership, luca: Membership, ready: Job, client_of: Browser
) -> None:
    early = marks(client_of(priya), step_url(ready, "visuals"))
    client_of(luca).post(step_url(ready, "voice"), {"voice_id": "7"})
    visuals = {"genre_id": "942", "image_engine_id": "71"}
    assert (
        client_of(priya).post(step_url(ready, "visuals"), {**visuals, **early}).status_code == 302
    )
    ready.refresh_from_db()
    assert (ready.draft.settings["voice_id"], ready.draft.settings["genre_id"]) == (7, 942)


def test_a_field_saved_too_late_says_so_beside_the_form(
    priya: Membership, luca: Membership, ready: Job, client_of: Browser
) -> None:
    early = marks(client_of(priya), step_url(ready, "voice"))
    client_of(luca).post(step_url(ready, "voice"), {"voice_id": "7"})
    answer = client_of(priya).post(
        step_url(ready, "voice"), {"voice_id": "11", **early}, headers=HTMX
    )
    html = answer.content.decode()
    assert 'id="refusal"' in html
    assert "This draft was changed in another window or by somebody else." in html
    assert 'id="marks"' not in html


def test_own_words_do_not_race_a_script_that_is_being_written(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    ChargeFactory.create(job=ready, operation="faceless.scripts", state=ChargeState.HELD)
    answer = client_of(priya).post(step_url(ready, "script"), {"script": "Mine."})
    html = answer.content.decode()
    assert "The service is writing the script." in html
    assert "Mine." in html
    ready.refresh_from_db()
    assert ready.draft.settings["script"] != "Mine."


def test_a_draft_that_is_being_rendered_keeps_its_settings(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    ChargeFactory.create(job=ready, state=ChargeState.HELD)
    for answer in (
        client_of(priya).get(step_url(ready, "voice")),
        client_of(priya).post(step_url(ready, "voice"), {"voice_id": "7"}),
    ):
        assert answer.url == f"/videos/{ready.pk}/"
    ready.refresh_from_db()
    assert ready.draft.settings["voice_id"] == 3
