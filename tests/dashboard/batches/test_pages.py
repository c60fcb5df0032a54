"""The pages of batches: a file becomes rows, which are repaired, started and watched."""

from __future__ import annotations

import re

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from dashboard.models import Batch, BatchRow
from proxyapi.models import Account, AutoTopUp, CreditPack, Token, TokenState
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
    dialog = browser.get(f"/batches/{batch.pk}/resumptions/").content.decode()
    shown = re.search(r'name="max_credits" value="([^"]*)"', dialog)
    assert shown
    limits = {"max_credits": shown[1], "max_failures": "3"}
    browser.post(f"/batches/{batch.pk}/resumptions/", limits)
    batch.refresh_from_db()
    assert (batch.state, batch.max_failures) == ("running", 3)
    browser.post(f"/batches/{batch.pk}/cancellations/")
    assert states(batch) == ["begun", "cancelled", "cancelled"]
    render_all(batch)
    batch.refresh_from_db()
    assert batch.state == "finished"


def test_the_top_ups_that_it_causes_are_shown(make_batch, history, priya, client_of):
    """150 videos of 100 credits: more than the 4,318 of the account."""
    batch, account = make_batch(*topics(150)), history.account
    assert "top-up" not in page_of(client_of(priya), batch).split('id="price"')[1]
    pack = CreditPack.objects.create(tenant=account.tenant, plan_id=7, name="Big", credits=20_000)
    AutoTopUp.objects.create(
        account=account,
        enabled=True,
        type="extra-credits",
        plan_id=pack.plan_id,
        read_at=timezone.now(),
    )
    page = page_of(client_of(priya), batch)
    assert "Only with top-up" in page
    assert "150 × 100 = 15,000 cr; 4,318 are free. One top-up needed" in page


def test_what_the_limit_allows_is_what_is_confirmed(make_batch, priya, client_of):
    batch = make_batch(*topics(3), max_credits=200)
    question = client_of(priya).get(f"/batches/{batch.pk}/starts/").content.decode()
    assert "Start 3 videos, up to 200 cr?" in question


def test_settings_and_columns_are_saved_and_a_field_is_used_once(make_batch, priya, client_of):
    batch, browser = make_batch("Fog,Why,,,,,"), client_of(priya)
    columns = {f"column-{at}": name for at, name in enumerate(batch.columns)}
    fields = {"name": "Fogs", "at_once": "4", "max_failures": "0", "max_credits": "", **columns}
    twice = browser.post(f"/batches/{batch.pk}/", {**fields, "column-0": "topic"})
    assert twice.status_code == 422
    assert "Two columns go to Topic." in twice.content.decode()
    assert browser.post(f"/batches/{batch.pk}/", {**fields, "column-3": ""}).status_code == 302
    batch.refresh_from_db()
    assert (batch.name, batch.at_once, batch.columns[3]) == ("Fogs", 4, "")


def test_a_row_is_edited_in_its_dialog_and_made_although_it_is_a_duplicate(
    make_batch, priya, client_of
):
    batch, browser = make_batch("Fog,Why,,,,,", "Fog,Why,,,,,"), client_of(priya)
    url = f"/batches/{batch.pk}/rows/2/"
    assert "A3 title" in browser.get(url).content.decode()
    assert "The same title and text as row 1." in page_of(browser, batch)
    browser.post(url, {"choice": "make"})
    assert BatchRow.objects.get(number=2).cells == ["Fog", "Why"]
    assert "2 of 2 rows" in page_of(browser, batch)


def test_a_member_without_a_token_is_told_so(make_batch, history, priya, client_of):
    batch = make_batch("Fog,Why,,,,,")
    Token.objects.update(state=TokenState.REMOVED)
    assert "You have no token yet." in page_of(client_of(priya), batch)
    answer = client_of(priya).get(f"/batches/{batch.pk}/starts/", follow=True)
    assert answer.redirect_chain == [(f"/batches/{batch.pk}/", 302)]
    assert "You have no token yet." in answer.content.decode()


def test_the_pages_ask_the_database_the_same_for_many_rows(
    make_batch, history, priya, client_of, django_assert_max_num_queries
):
    batch, browser = make_batch(*topics(400)), client_of(priya)
    with django_assert_max_num_queries(48):
        page_of(browser, batch)
    Account.objects.update(balance=100_000)
    started = advance(start(priya, batch))
    with django_assert_max_num_queries(26):
        page = page_of(browser, started)
    assert len(page) < 60_000


def test_formulas_stay_texts_in_the_results(make_batch, priya, client_of):
    batch = make_batch('"=HYPERLINK(""x"")",Why,,,,,', "Fog,Why,,,,,")
    start(priya, batch)
    text = client_of(priya).get(f"/batches/{batch.pk}/results.csv").content.decode()
    assert "'=HYPERLINK" in text
    assert "Left out" in text
