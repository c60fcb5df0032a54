"""A row that waits or has failed is changed after the start; a higher price is confirmed first."""

from __future__ import annotations

import re
from decimal import Decimal
from threading import Event, Thread

import pytest
from django.db import connection

from dashboard.batches import actions, runner
from dashboard.batches.dry_run import load_dry_run
from dashboard.batches.row_changes import LimitRises, change_started_row
from dashboard.models import AuditEvent, Batch, BatchRow, Budget
from dashboard.studio.planned_renders import continue_planned_render
from proxyapi.models import Charge
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.batches.conftest import (
    advance,
    charges_of,
    end_render,
    end_script,
    jobs_of,
    render_all,
    start,
    states,
    topics,
)

LENGTH, TOPIC = 5, 1  # columns


def rows_of(batch):
    return list(BatchRow.objects.filter(batch=batch))


@pytest.fixture
def started(make_batch, priya):
    """The first of three rows has begun."""
    return advance(start(priya, make_batch(*topics(3), at_once=1)))


def change(by, batch, number, cells, confirmed=None):
    change_started_row(by=by, batch=batch, number=number, cells=cells, confirmed=confirmed)


def test_a_row_that_waits_is_made_as_it_was_changed(started, priya):
    change(priya, started, 2, {TOPIC: "What is a fjord?"})
    assert AuditEvent.objects.filter(action="batch.change").count() == 1
    render_all(started)
    assert states(started) == ["done"] * 3
    assert jobs_of(started)[1].draft.settings["topic"] == "What is a fjord?"
    started.refresh_from_db()
    assert started.max_credits == 393


def test_a_label_that_is_new_is_made_for_its_video(make_batch, priya):
    headers = "title,topic,label\n"
    batch = make_batch("Fog,Why,", "Ice,How,", headers=headers, at_once=1)
    batch = advance(start(priya, batch))
    change(priya, batch, 2, {2: "Winter"})
    render_all(batch)
    labels = jobs_of(batch)[1].labels.values_list("name", flat=True)
    assert sorted(labels) == ["Lakes", "Winter"]


def test_a_higher_price_is_shown_and_confirmed_in_the_dialog(started, priya, client_of):
    browser, url = client_of(priya), f"/batches/{started.pk}/rows/2/"
    assert f'href="{url}"' in browser.get(f"/batches/{started.pk}/").content.decode()
    cells = {"cell-1": "What is a fjord?", f"cell-{LENGTH}": "180"}
    answer = browser.post(url, cells)
    page = answer.content.decode()
    (number,) = re.findall(r'name="limit" value="(\d+)"', page)
    shown = Decimal(number)
    assert answer.status_code == 422
    assert f"The row may cost {shown} cr at most now, {shown - 131} cr more" in page
    assert "Confirm and save" in page
    assert rows_of(started)[1].limit == 131
    assert browser.post(url, {**cells, "limit": str(shown)}).status_code == 302
    started.refresh_from_db()
    assert rows_of(started)[1].limit == shown
    assert started.max_credits == 393 + shown - 131


def test_a_price_that_was_not_the_one_confirmed_is_asked_for_again(started, priya):
    with pytest.raises(Refusal, match="Save again"):
        change(priya, started, 2, {LENGTH: "180"}, confirmed=Decimal(140))
    assert rows_of(started)[1].cells[LENGTH:] == []


def test_a_budget_refuses_what_the_change_adds(started, priya):
    Budget.objects.create(team=priya.team, period="month", hard=100)
    with pytest.raises(LimitRises) as asked:
        change(priya, started, 2, {LENGTH: "180"})
    with pytest.raises(Refusal, match="It may need"):
        change(priya, started, 2, {LENGTH: "180"}, confirmed=asked.value.limit)
    assert rows_of(started)[1].limit == 131


def test_a_wrong_cell_is_named_and_nothing_is_changed(started, priya, client_of):
    answer = client_of(priya).post(f"/batches/{started.pk}/rows/2/", {f"cell-{LENGTH}": "45"})
    assert "“45” is no length" in answer.content.decode()
    assert rows_of(started)[1].cells[LENGTH:] == []


def test_a_row_that_has_begun_is_refused_with_a_sentence(started, priya, client_of):
    with pytest.raises(StaleData, match="Row 1 has begun or ended meanwhile"):
        change(priya, started, 1, {TOPIC: "x"})
    page = client_of(priya).get(f"/batches/{started.pk}/rows/1/", follow=True).content.decode()
    assert "Row 1 has begun or ended meanwhile." in page
    assert f"/batches/{started.pk}/rows/1/" not in page


def test_only_the_member_whose_credits_it_spends_changes_it(started, luca, client_of):
    assert client_of(luca).get(f"/batches/{started.pk}/rows/2/").status_code == 403
    assert "/rows/2/" not in client_of(luca).get(f"/batches/{started.pk}/").content.decode()


@pytest.fixture
def failed(make_batch, priya):
    """One row, whose script was written and whose render failed."""
    batch = advance(start(priya, make_batch(*topics(1))))
    (job,) = jobs_of(batch)
    end_script(job)
    continue_planned_render(job.pk)
    end_render(charges_of(batch)[0], failed=True)
    return advance(batch)


def retry(by, batch):
    run = load_dry_run(by, batch, actions.load_failed_rows(batch))
    version = actions.dry_run_version(run)
    actions.retry_failed_rows(by=by, batch=batch, seen=run.total.usual, version=version)
    return run


@pytest.mark.parametrize(
    ("cells", "is_paid_again"),
    [({0: "Another title"}, False), ({TOPIC: "What is a fjord?"}, True), ({LENGTH: "30"}, True)],
)
def test_a_failed_row_that_asks_for_another_script_pays_for_it(failed, priya, cells, is_paid_again):
    change(priya, failed, 1, cells)
    assert states(failed) == ["failed"]
    run = retry(priya, failed)
    assert run.ready[0].needs_script == is_paid_again
    batch = advance(failed)
    scripts = Charge.objects.filter(job__batch_row__batch=batch, operation="faceless.scripts")
    assert scripts.exists() == is_paid_again


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_row_that_begins_meanwhile_is_not_changed(make_batch, priya, monkeypatch):
    """The change waits for the lock that the runner has, and then finds the row begun."""
    batch = start(priya, make_batch(*topics(1)))
    begin_row, has_lock, refused = runner.begin_row, Event(), []

    def begin_slowly(*args):
        has_lock.set()
        begin_row(*args)

    def change_now():
        has_lock.wait(60)
        try:
            change(priya, batch, 1, {TOPIC: "x"})
        except Refusal as refusal:
            refused.append(refusal.sentence)
        finally:
            connection.close()

    monkeypatch.setattr(runner, "begin_row", begin_slowly)
    thread = Thread(target=change_now)
    thread.start()
    advance(batch)
    thread.join(60)
    assert refused == ["Row 1 has begun or ended meanwhile. It cannot be changed any more."]
    assert jobs_of(Batch.objects.get())[0].draft.settings["topic"] == "What is lake 1?"
