"""The pages of series: made, confirmed, changed, paused and deleted."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dashboard.models import Batch, Preset, Series
from dashboard.series import actions
from proxyapi.models import Idea
from tests.dashboard.batches.conftest import hidden_fields
from tests.dashboard.series.conftest import LAKES, make_series, time_comes

FORM = {
    "name": "Lakes",
    "topics": "\n".join(LAKES),
    "weekdays": ["0", "3"],
    "at": "09:00",
    "time_zone": "Berlin",
    "count": "3",
    "monthly_credits": "1,000",
}


def page_of(browser, series, path=""):
    return browser.get(f"/series/{series.pk}/{path}").content.decode()


@pytest.mark.postgresql
def test_the_pages_create_confirm_pause_and_delete_a_series(history, priya, vera, client_of):
    browser = client_of(priya)
    preset = Preset.objects.create(
        team=priya.team, name="Noir", type="ai-visuals", created_by=priya.user
    )
    assert "No series yet" in browser.get("/series/").content.decode()
    empty = browser.post("/series/new/", {"name": "Lakes"})
    for sentence in ("Choose at least one day.", "Enter a time, such as", "Choose a preset."):
        assert sentence in empty.content.decode()
    browser.post("/series/new/", {**FORM, "preset": str(preset.pk)})
    series = Series.objects.get()
    page = page_of(browser, series)
    assert "Every Monday and Thursday, 09:00 Europe/Berlin" in page
    assert "7 topics left" in page
    assert "What is lake 3?" in page
    question = page_of(browser, series, "starts/")
    assert "Start “Lakes”, within 1,000 cr a month?" in question
    assert "393" in question
    for _ in range(2):
        answer = browser.post(f"/series/{series.pk}/starts/", hidden_fields(question))
        assert answer["Location"] == f"/series/{series.pk}/"
    series = time_comes(series)
    assert series.is_running
    assert f"/batches/{Batch.objects.get().pk}/" in page_of(client_of(vera), series)
    assert "Running" in client_of(vera).get("/series/").content.decode()
    browser.post(f"/series/{series.pk}/pauses/")
    assert not Series.objects.running().exists()
    browser.post(f"/series/{series.pk}/", {**FORM, "preset": str(preset.pk), "count": "2"})
    assert Series.objects.get().count == 2
    browser.post(f"/series/{series.pk}/removals/")
    assert not Series.objects.exists()
    assert Batch.objects.get().series is None


def test_a_page_that_was_open_when_a_batch_started_brings_no_topic_back(lakes, priya, client_of):
    browser = client_of(priya)
    drawn = lakes.version
    form = {**FORM, "preset": str(lakes.preset_id), "weekdays": ["0"], "drawn": drawn}
    time_comes(lakes)
    page = browser.post(f"/series/{lakes.pk}/", form).content.decode()
    assert "started a batch, since this page was opened" in page
    assert LAKES[0] in page
    series = Series.objects.get()
    assert series.topic_lines == LAKES[3:]
    assert f'value="{series.version}"' in page
    browser.post(f"/series/{lakes.pk}/", {**form, "drawn": series.version})
    assert Series.objects.get().topic_lines == LAKES


def test_a_question_of_another_state_starts_nothing(history, priya, client_of):
    series, browser = make_series(priya, *LAKES), client_of(priya)
    question = page_of(browser, series, "starts/")
    Series.objects.update(monthly_credits=Decimal(2000))
    answer = browser.post(f"/series/{series.pk}/starts/", hidden_fields(question))
    assert "have changed; confirm again" in answer.content.decode()
    assert not Series.objects.running().exists()


def test_what_it_lacks_is_said_in_the_question(history, priya, client_of):
    series, browser = make_series(priya, monthly_credits=Decimal(1000)), client_of(priya)
    assert actions.TOPICS_USED_UP in page_of(browser, series, "starts/")
    Preset.objects.all().delete()
    assert actions.PRESET_GONE in page_of(browser, series)


def test_ideas_become_its_topics(history, priya, client_of):
    first, second = (
        Idea.objects.create(
            account=history.account, remote_id=name, title=f"{name} lakes", volume=volume
        )
        for name, volume in (("Deep", 20), ("Cold", 10))
    )
    page = client_of(priya).post("/series/new/", {"idea": [str(first.pk), str(second.pk)]})
    assert page.status_code == 200
    assert f"{first.title}\n{second.title}" in page.content.decode()
    assert not Series.objects.exists()
