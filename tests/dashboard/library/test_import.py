"""Import by ID: a member adds what exists at the service under their token."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.models import AuditEvent
from proxyapi.models import Account, Job, LedgerEntry, LedgerMirror
from tests.factories import AccountFactory, EntryFactory, TokenFactory
from tests.proxyapi.scripted_upstream import error_response, make_response

URL = "/library/imports/"
FACELESS = "/faceless/41234"
FILM = "http://127.0.0.1:8001/media/film.mp4"
DONE = {"id": 41234, "title": "Tides", "video": {"status": "completed", "url": FILM}}
RENDERING = {"id": 41234, "title": "Tides", "video": {"status": "rendering"}}


def post(browser, upstream_id="41234", kind="faceless", **headers):
    return browser.post(URL, {"kind": kind, "upstream_id": upstream_id}, **headers)


def test_it_is_asked_on_the_library(priya, vera, client_of):
    assert f'href="{URL}"' in client_of(priya).get("/library/").content.decode()
    assert URL not in client_of(vera).get("/library/").content.decode()
    page = client_of(priya).get(URL).content.decode()
    assert "<dialog" in page and "<h1>Library</h1>" in page  # without JavaScript
    assert "<h1>" not in client_of(priya).get(URL, HTTP_HX_REQUEST="true").content.decode()


@pytest.mark.parametrize(
    ("record", "follows"), [(DONE, False), (RENDERING, True)], ids=["finished", "running"]
)
def test_it_becomes_a_video_of_the_member(record, follows, token, priya, client_of, upstream):
    upstream.respond("GET", FACELESS, make_response(record))
    browser = client_of(priya)
    answer = post(browser)
    job = Job.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/videos/{job.pk}/")
    page = browser.get(answer.url).content.decode()
    assert "“Tides” was imported." in page
    assert ("until it is finished" in page) is follows
    assert "Imported by Priya today." in page
    assert "Imported, ID 41234" in page
    assert "Not known" in page  # what it cost
    assert f"/videos/{job.pk}/" in browser.get("/library/").content.decode()
    event = AuditEvent.objects.get(action="video.import")
    assert (event.target, event.after["upstream_id"]) == (str(job.pk), "41234")


def test_a_debit_of_its_title_is_its_cost(token, priya, client_of, upstream):
    EntryFactory.create(account=token.account, label="Tides", credit_spend="-96")
    EntryFactory.create(account=token.account, credit_spend="-5")
    LedgerMirror.objects.create(account=token.account, high=2, total=2)
    Account.objects.update(created_at=timezone.now() - timedelta(days=1))
    upstream.respond("GET", FACELESS, make_response(DONE))
    browser = client_of(priya)
    url = post(browser).url
    page = browser.get(url).content.decode()
    assert "Not known" not in page
    assert "the debits that have its title" in page
    assert 'data-is="about" value="96"' in " ".join(page.split())
    ledger = browser.get("/ledger/?period=all&direction=out&match=no").content.decode()
    assert "−5" in ledger and "Tides" not in ledger
    entry = LedgerEntry.objects.get(label="Tides")
    entry_page = browser.get(f"/ledger/{entry.account_id}/{entry.position}/").content.decode()
    assert "Its label is the title of this imported video" in entry_page
    assert "The imported video" in entry_page
    assert url in entry_page


def test_one_that_is_here_already_is_linked(token, make_video_job, priya, client_of, upstream):
    job = make_video_job("completed", remote_id="41234", title="Glacier")
    answer = post(client_of(priya))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "already in the library: “Glacier”" in page
    assert f'<a class="link" href="/videos/{job.pk}/">Open it</a>' in page
    assert 'value="41234"' in page
    assert not upstream.requests
    assert Job.objects.count() == 1


def test_a_hidden_one_leads_to_the_hidden_videos(token, make_video_job, priya, client_of):
    make_video_job("completed", remote_id="41234", title="Glacier", hidden_at="2026-01-01T00:00Z")
    page = post(client_of(priya)).content.decode()
    assert "It is hidden: “Glacier”" in page
    assert 'href="/library/?state=hidden">Open it' in page


@pytest.mark.parametrize("kind", ["clip", "storyboard"])
def test_what_the_service_has_not_keeps_what_was_typed(kind, token, priya, client_of, upstream):
    path = {"clip": "/text-to-video/41234", "storyboard": "/text-to-scene/41234"}[kind]
    upstream.respond("GET", path, error_response(404, "GEN-NOT-FOUND"))
    answer = post(client_of(priya), kind=kind, HTTP_HX_REQUEST="true")
    page = answer.content.decode()
    assert f"The service has no {kind} 41234 under this token." in page
    assert f'<option value="{kind}" selected' in page
    assert 'value="41234"' in page
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"upstream_id": ""}, "Enter the ID."),
        ({"upstream_id": "soon"}, "a whole number such as 41234"),
        ({"upstream_id": "1" * 65}, "At most 64 characters"),
        ({"kind": "clone"}, "Choose one from the list."),
    ],
)
def test_what_cannot_be_meant_is_said_beside_its_field(data, sentence, token, priya, client_of):
    answer = post(client_of(priya), **data)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()


def test_without_a_token_one_is_asked_for(priya, client_of, upstream):
    answer = post(client_of(priya))
    assert (answer.status_code, upstream.requests) == (422, [])
    assert "You have no token yet." in answer.content.decode()


def test_a_member_of_two_accounts_imports_from_both(token, northlight, priya, client_of, upstream):
    newer = TokenFactory.create(
        account=AccountFactory.create(tenant=northlight.tenant), owner=priya.user
    )

    def answer(request):
        is_newer = str(newer.pk) in request.headers["Authorization"]
        return error_response(404, "GEN-NOT-FOUND") if is_newer else make_response(DONE)

    upstream.respond("GET", FACELESS, answer)
    assert post(client_of(priya)).status_code == 302
    assert Job.objects.get().token == token
    assert len(upstream.requests) == 2


def test_another_member_finds_it_in_the_library(token, priya, luca, client_of, upstream):
    """Their token is of the same account."""
    upstream.respond("GET", FACELESS, make_response(DONE))
    TokenFactory.create(account=token.account, owner=luca.user)
    post(client_of(priya))
    assert "already in the library" in post(client_of(luca)).content.decode()
    assert Job.objects.get().member == priya.user


@pytest.mark.parametrize("origin", ["portal", "import"])
def test_the_queries_of_the_library_and_of_its_page(
    origin, make_video_job, priya, client_of, django_assert_num_queries
):
    job, browser = make_video_job("completed", origin=origin, draft=None), client_of(priya)
    EntryFactory.create(account=job.account, job=job, confidence="likely")
    with django_assert_num_queries(20):
        browser.get("/library/")
    with django_assert_num_queries(15):
        browser.get(f"/videos/{job.pk}/")
