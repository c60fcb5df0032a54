"""Several videos at once: hidden or shown again in one press, with undo."""

from __future__ import annotations

import re

import pytest

from proxyapi.models import Job

HIDE_URL, RESTORE_URL = "/library/selection/hide/", "/library/selection/restorations/"


@pytest.fixture
def films(make_video_job):
    return [make_video_job("completed", title=f"Film {n}") for n in range(3)]


def hidden():
    return set(Job.objects.exclude(hidden_at=None).values_list("title", flat=True))


def ids(jobs):
    return {"video": [job.pk for job in jobs]}


def test_selected_videos_are_hidden_and_undo_shows_them(films, priya, client_of):
    browser = client_of(priya)
    page = browser.post(HIDE_URL, ids(films[:2]), follow=True).content.decode()
    assert hidden() == {"Film 0", "Film 1"}
    assert "2 videos are hidden." in page
    undo = f"/library/undo/{browser.session['library_undo']['id']}/"
    assert f'action="{undo}"' in page
    browser.post(undo)
    assert hidden() == set()


def test_undo_leaves_hidden_what_was_hidden_before(films, priya, client_of):
    browser = client_of(priya)
    browser.post(HIDE_URL, ids(films[:1]))
    browser.post(HIDE_URL, ids(films[:2]))
    browser.post(f"/library/undo/{browser.session['library_undo']['id']}/")
    assert hidden() == {"Film 0"}


def test_hidden_videos_are_shown_again_together(films, priya, client_of):
    browser = client_of(priya)
    browser.post(HIDE_URL, ids(films))
    page = browser.get("/library/?state=hidden&select=on").content.decode()
    assert page.count('name="video"') == 3
    assert f'formaction="{RESTORE_URL}"' in page
    here = "http://testserver/library/?state=hidden"
    answer = browser.post(RESTORE_URL, ids(films), headers={"Referer": here})
    assert answer["Location"] == "/library/?state=hidden"
    assert "3 videos are shown in the library again." in browser.get(here).content.decode()
    assert hidden() == set()


def test_a_foreign_video_among_them_changes_none(films, otto, priya, client_of):
    for url in (HIDE_URL, RESTORE_URL):
        assert client_of(otto).post(url, ids(films)).status_code == 404
        assert client_of(priya).post(url, {"video": [films[0].pk, "Ω"]}).status_code == 404
    assert hidden() == set()


def test_without_a_selection_it_says_so(priya, client_of):
    page = client_of(priya).post(HIDE_URL, follow=True).content.decode()
    assert "No video is selected." in page


def test_only_makers_select(films, vera, priya, client_of):
    assert 'name="video"' not in client_of(vera).get("/library/?select=on").content.decode()
    assert client_of(vera).post(HIDE_URL, ids(films)).status_code == 403
    page = client_of(priya).get("/library/?select=all").content.decode()
    assert len(re.findall(r'name="video"[^>]* checked', page)) == 3
    assert "poll from:body, refresh" not in page
