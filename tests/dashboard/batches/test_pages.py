"""The pages of batches: a file becomes rows, which are repaired, started and watched."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile

from dashboard.models import Batch, BatchRow
from tests.dashboard.batches.conftest import (
    HEADERS,
    advance,
    hidden_fields,
    render_all,
    start,
    states,
    topics,
)


def upload(browser, text, **fields):
    file = SimpleUploadedFile("lakes.csv", text.encode(), "text/csv")
    return browser.post("/batches/new/", {"file": file, **fields})


def page_of(browser, batch, query=""):
    return browser.get(f"/batches/{batch.pk}/{query}").content.decode()


def test_a_file_becomes_a_batch_that_is_checked(history, priya, client_of):
    browser = client_of(priya)
    answer = upload(browser, HEADERS + "Fog,Why fog forms,,Marren,Cinematic,45,16:9\n")
    batch = Batch.objects.get()
    assert answer["Location"] == f"/batches/{batch.pk}/"
    page = page_of(browser, batch)
    assert "D2:" in page
    assert "“Marren” is no voice that this account offers. The nearest is Maren." in page
    assert "F2:" in page
    assert "Possible are 30 s, 60 s" in page


def test_a_cell_is_repaired_by_its_suggestion(history, priya, client_of):
    browser = client_of(priya)
    upload(browser, HEADERS + "Fog,Why fog forms,,Marren,,,\n")
    batch = Batch.objects.get()
    browser.post(f"/batches/{batch.pk}/rows/1/", {"cell-3": "Maren"})
    assert BatchRow.objects.get().cells[:4] == ["Fog", "Why fog forms", "", "Maren"]
    assert "1 of 1 rows" in page_of(browser, batch)


def test_rows_can_be_pasted(history, priya, client_of):
    client_of(priya).post(
        "/batches/new/", {"rows": "title\ttopic\nFog\tWhy fog forms", "name": "F"}
    )
    batch = Batch.objects.get()
    assert (batch.name, batch.columns) == ("F", ["title", "topic"])


def test_a_file_that_cannot_be_read_says_why(history, priya, client_of):
    answer = upload(client_of(priya), "")
    assert "is empty" in answer.content.decode()
    answer = upload(client_of(priya), "title,topic\n")
    assert answer.status_code == 422
    assert "There are no rows below" in answer.content.decode()


def test_a_batch_is_started_with_its_price(make_batch, priya, client_of):
    batch, browser = make_batch(*topics(3)), client_of(priya)
    url = f"/batches/{batch.pk}/starts/"
    question = browser.get(url).content.decode()
    assert "Start 3 videos, up to 393 cr?" in question
    for _ in range(2):
        answer = browser.post(url, hidden_fields(question))
        assert answer["Location"] == f"/batches/{batch.pk}/"
    assert states(batch) == ["waiting"] * 3
    batch.refresh_from_db()
    assert (batch.state, batch.max_credits, batch.label.name) == ("running", 393, "Lakes")


def test_what_was_shown_is_what_is_started(make_batch, priya, client_of):
    batch, browser = make_batch(*topics(3)), client_of(priya)
    url = f"/batches/{batch.pk}/starts/"
    question = browser.get(url).content.decode()
    BatchRow.objects.filter(batch=batch, number=1).update(choice="leave")
    answer = browser.post(url, hidden_fields(question))
    assert "Rows or prices have changed" in answer.content.decode()
    assert states(batch) == ["new"] * 3


def test_only_the_member_who_made_it_starts_it(make_batch, luca, client_of):
    batch = make_batch(*topics(1))
    page = page_of(client_of(luca), batch)
    assert "Priya made it and can start it" in page


def test_results_have_the_columns_of_the_file(make_batch, priya, vera, client_of):
    batch = start(priya, make_batch(*topics(2)))
    render_all(batch)
    page = page_of(client_of(vera), batch)
    assert "2 of 2 done" in page
    text = client_of(vera).get(f"/batches/{batch.pk}/results.csv").content.decode("utf-8-sig")
    first, second, *_ = text.splitlines()
    assert first == HEADERS.strip() + ",state,credits,video,reason,ledger entry"
    assert second.startswith("Lake 1,What is lake 1?,,,,,,Done,100,http")


def test_it_is_paused_resumed_and_cancelled(make_batch, priya, client_of):
    batch, browser = advance(start(priya, make_batch(*topics(3), at_once=1))), client_of(priya)
    browser.post(f"/batches/{batch.pk}/pauses/")
    assert advance(batch).state == "paused"
    browser.post(f"/batches/{batch.pk}/resumptions/", {"max_credits": "393", "max_failures": "3"})
    batch.refresh_from_db()
    assert (batch.state, batch.max_failures) == ("running", 3)
    browser.post(f"/batches/{batch.pk}/cancellations/")
    assert states(batch) == ["begun", "cancelled", "cancelled"]
    render_all(batch)
    batch.refresh_from_db()
    assert batch.state == "finished"
