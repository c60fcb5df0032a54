"""A hidden video is found under Hidden, and shown again from there or by Undo."""

from __future__ import annotations

import pytest

from dashboard.library.queries.filters import LibraryFilters
from dashboard.library.queries.video_list import load_library_page
from dashboard.models import AuditEvent
from proxyapi.models import ChargeState, Job
from tests.factories import ChargeFactory


def tabs(reader):
    return {tab.label: tab.total for tab in load_library_page(reader, LibraryFilters())["tabs"]}


def hide(browser, job):
    return browser.post(f"/videos/{job.pk}/hide/", follow=True).content.decode()


def test_a_hidden_video_is_in_the_tab_hidden_alone(make_video_job, priya, client_of):
    job, browser = make_video_job("running", title="Whales"), client_of(priya)
    make_video_job("completed", title="Bees")
    hide(browser, job)
    counted = tabs(priya)
    assert (counted["All"], counted["Rendering"], counted["Hidden"]) == (1, 0, 1)
    for query, shown in (("", False), ("?state=rendering", False), ("?state=hidden", True)):
        browser.get("/library/")  # the message of hiding is read
        page = browser.get(f"/library/{query}").content.decode()
        assert ("<bdi>Whales</bdi>" in page) is shown, query
        assert ("<bdi>Bees</bdi>" in page) is not shown or query, query


def test_the_tab_shows_it_again(make_video_job, priya, client_of):
    job, browser = make_video_job("completed", title="Whales"), client_of(priya)
    hide(browser, job)
    here = "http://testserver/library/?state=hidden"
    page = browser.get(here).content.decode()
    assert f'action="/videos/{job.pk}/restorations/"' in page
    assert "Show again" in page
    assert f'href="/videos/{job.pk}/"' not in page
    assert f"/videos/{job.pk}/media/" not in page
    answer = browser.post(f"/videos/{job.pk}/restorations/", headers={"Referer": here})
    assert answer["Location"] == "/library/?state=hidden"
    assert "“Whales” is shown in the library again." in browser.get(here).content.decode()
    assert browser.get(f"/videos/{job.pk}/").status_code == 200
    assert tabs(priya)["Hidden"] == 0


def test_hiding_can_be_undone_at_once(make_video_job, priya, client_of):
    job, browser = make_video_job(title="Whales"), client_of(priya)
    question = browser.get(f"/videos/{job.pk}/hide/").content.decode()
    assert "It moves to Hidden in the library" in question
    page = hide(browser, job)
    assert f'action="/videos/{job.pk}/restorations/"' in page.partition("“Whales” is hidden.")[2]
    assert browser.post(f"/videos/{job.pk}/restorations/").status_code == 302
    assert browser.get(f"/videos/{job.pk}/").status_code == 200
    done = AuditEvent.objects.values_list("action", flat=True)
    assert list(done.order_by("pk")) == ["video.hide", "video.unhide"]


def test_showing_again_twice_is_once(make_video_job, priya, client_of):
    job, browser = make_video_job(title="Whales"), client_of(priya)
    for _ in range(2):
        assert browser.post(f"/videos/{job.pk}/restorations/").status_code == 302
    assert not AuditEvent.objects.exists()


def test_a_viewer_sees_what_is_hidden_and_cannot_show_it(make_video_job, priya, vera, client_of):
    job = make_video_job(title="Whales")
    hide(client_of(priya), job)
    browser = client_of(vera)
    page = browser.get("/library/?state=hidden").content.decode()
    assert "<bdi>Whales</bdi>" in page
    assert "Show again" not in page
    assert browser.post(f"/videos/{job.pk}/restorations/").status_code == 403


def test_without_hidden_videos_the_tab_says_so(make_video_job, vera, client_of):
    make_video_job()
    page = client_of(vera).get("/library/?state=hidden").content.decode()
    assert "No hidden videos" in page


@pytest.mark.parametrize("state", [ChargeState.DRAFT, ChargeState.HELD])
def test_a_draft_with_an_open_charge_is_not_hidden(make_video_job, priya, client_of, state):
    draft, other = make_video_job(title="Whales"), make_video_job("completed", title="Bees")
    ChargeFactory.create(job=draft, state=state)
    sentence = "Nothing was hidden. A request of the draft “Whales” waits for an approval"
    browser = client_of(priya)
    assert sentence in hide(browser, draft)
    both = {"video": [draft.pk, other.pk]}
    assert sentence in browser.post("/library/selection/hide/", both, follow=True).content.decode()
    assert not Job.objects.exclude(hidden_at=None).exists()
    assert not AuditEvent.objects.exists()


def test_undo_does_not_hide_a_draft_with_an_open_charge(make_video_job, priya, client_of):
    draft, browser = make_video_job(title="Whales"), client_of(priya)
    selected = {"video": [draft.pk]}
    browser.post("/library/selection/hide/", selected)
    browser.post("/library/selection/restorations/", selected)
    ChargeFactory.create(job=draft)
    undo = f"/library/undo/{browser.session['library_undo']['id']}/"
    assert "Nothing was hidden." in browser.post(undo, follow=True).content.decode()
    assert not Job.objects.exclude(hidden_at=None).exists()


def test_a_rendering_video_with_an_open_charge_is_hidden(make_video_job, priya, client_of):
    job = make_video_job("running", title="Whales")
    ChargeFactory.create(job=job)
    assert "“Whales” is hidden." in hide(client_of(priya), job)
