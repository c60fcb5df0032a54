"""A video that was not composed in the studio has its pages, and none there."""

from __future__ import annotations

from itertools import product

import pytest

from proxyapi.models import JobKind

STATES = ("draft", "running", "completed", "failed")


def test_it_has_its_pages(make_video_job, add_settled_charge, priya, client_of):
    browser, pages = client_of(priya), {}
    for state, kind in product(STATES, [JobKind.FACELESS, JobKind.CLIP]):
        job = make_video_job(state, kind=kind, title="Ice", draft=None)
        if state != "draft":
            add_settled_charge(job)
        pages[state, kind] = page = f"/videos/{job.pk}/"
        for url in ("", "actions/", "actions/?at=head"):
            assert browser.get(page + url).status_code == 200, (state, kind, url)
    found, in_format = (
        browser.get(f"/library/?q=Ice{more}").content.decode() for more in ("", "&format=16:9")
    )
    assert {it for it, page in pages.items() if page not in found} == set()
    assert {it for it, page in pages.items() if page in in_format} == set()


@pytest.mark.parametrize("place", ["actions/", "actions/?at=head"])
def test_it_is_not_continued_in_the_studio(place, make_video_job, priya, client_of):
    job, browser = make_video_job("draft", title="Ice", draft=None), client_of(priya)
    assert "Continue" not in browser.get(f"/videos/{job.pk}/{place}").content.decode()
    assert "Ice" not in browser.get("/studio/drafts/").content.decode()


@pytest.mark.parametrize("page", ["script", "review", "price", "renders", "scripts"])
def test_the_studio_has_no_page_of_it(page, make_video_job, priya, client_of):
    job, browser = make_video_job("draft", draft=None), client_of(priya)
    url = f"/studio/{job.pk}/{page}/"
    assert (browser.get(url).status_code, browser.post(url).status_code) == (404, 404)


def test_a_failed_one_is_retried_at_what_it_took(
    make_video_job, add_settled_charge, priya, client_of
):
    job = make_video_job("failed", draft=None)
    url = f"/videos/{job.pk}/retries/"
    assert "There is no current price" in client_of(priya).get(url).content.decode()
    add_settled_charge(job, 92)
    assert "Cost of the last run" in client_of(priya).get(url).content.decode()
