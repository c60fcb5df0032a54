"""Rows from links: the page is read first, then its script is written, or the row's own is used."""

from __future__ import annotations

import pytest
from django.utils import timezone

from dashboard.batches import actions
from dashboard.batches.dry_run import load_dry_run
from dashboard.models import BatchRow
from dashboard.studio.planned_renders import continue_planned_render
from proxyapi.models import Charge, Draft, Job, PageRead, PageReadState
from tests.dashboard.batches.conftest import (
    add_past_renders,
    advance,
    charges_of,
    dry_run,
    end_render,
    jobs_of,
    start,
    states,
)
from tests.dashboard.studio.conftest import SCRIPT, WANTED
from tests.dashboard.studio.planned import price_draft, write_script

HEADERS = "title,topic,script,link,type\n"
LINK = "https://example.com/lakes"
SCRAPE = "faceless.scrape_script"


@pytest.fixture
def page_history(history):
    """Renders from web pages cost 40 credits."""
    add_past_renders(history, 40, subtype="url-based", settings={**WANTED, "type": "url-based"})


def read_page(job: Job, images: tuple[int, ...] = (71, 72), **fields) -> None:
    """The page is read: the service attached these images."""
    draft = Draft.objects.get(pk=job.pk)
    draft.settings = {**draft.settings, "assets": list(images)}
    draft.save()
    ended = {"state": PageReadState.DONE, "due_at": None, "ended_at": timezone.now(), **fields}
    PageRead.objects.filter(job=job).update(**ended)


def problems(by, batch):
    return [
        f"{one.cell} {one.sentence}"
        for check in dry_run(by, batch).checks
        for one in check.problems
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Fog,,,https://youtu.be/x,", "D2 The service does not read video and social sites."),
        ("Fog,,,http://10.0.0.1/x,", "D2 The service can read public pages only"),
        (f"Fog,Why,,{LINK},", "B2 From a web page has no topic. Empty the cell."),
        (f"Fog,,,{LINK},AI visuals", "D2 AI visuals has no link. Empty the cell."),
        ("Fog,Why,,,From a web page", "B2 From a web page has no topic"),
        ("Fog,,Because,,From a web page", "D2 A video from a web page needs its link."),
    ],
)
def test_a_link_that_makes_no_video_is_named(make_batch, page_history, priya, line, problem):
    assert problems(priya, make_batch(line, headers=HEADERS))[0].startswith(problem)


def test_a_link_is_a_row_with_the_price_of_its_script_and_render(make_batch, page_history, priya):
    batch = make_batch(f",,,{LINK},", f"Own,,{SCRIPT},{LINK}/2,", headers=HEADERS)
    run = dry_run(priya, batch)
    first, second = run.checks
    assert (first.title, first.settings["type"]) == ("example.com/lakes", "url-based")
    assert [(first.needs_script, second.needs_script)] == [(True, False)]
    assert [run.prices[number].usual for number in (1, 2)] == [44, 40]


def test_the_page_is_read_before_its_script_is_paid(make_batch, page_history, priya):
    batch = advance(start(priya, make_batch(f"Lakes,,,{LINK},", headers=HEADERS)))
    (job,) = jobs_of(batch)
    assert PageRead.objects.get(job=job).url == LINK
    for _ in range(2):
        batch = advance(batch)
    assert states(batch) == ["begun"]
    assert not Charge.objects.filter(job=job).exists()
    read_page(job)
    for _ in range(2):
        advance(batch)
    script = Charge.objects.get(job=job)
    assert (script.operation, script.body["url"]) == (SCRAPE, LINK)
    write_script(script, SCRIPT)
    price_draft(job, 41)
    continue_planned_render(job.pk)
    end_render(charges_of(batch)[0], 41)
    batch = advance(batch)
    assert (states(batch), batch.state) == (["done"], "finished")


def test_a_row_with_a_script_of_its_own_needs_the_images_alone(make_batch, page_history, priya):
    batch = advance(start(priya, make_batch(f"Own,,{SCRIPT},{LINK},", headers=HEADERS)))
    (job,) = jobs_of(batch)
    read_page(job)
    price_draft(job, 40)
    batch = advance(batch)
    assert [charge.quote for charge in charges_of(batch)] == [40]
    assert not Charge.objects.filter(job=job, operation=SCRAPE).exists()


def test_a_page_that_cannot_be_read_fails_its_row_unpaid(make_batch, page_history, priya):
    lines = (f"A,,,{LINK},", f"B,,,{LINK}/2,")
    batch = advance(start(priya, make_batch(*lines, headers=HEADERS)))
    first, second = jobs_of(batch)
    read_page(first, (), state=PageReadState.FAILED, message="“No page.” Check the address.")
    read_page(second, ())
    batch = advance(batch)
    reasons = BatchRow.objects.filter(batch=batch).values_list("reason", flat=True)
    assert list(reasons) == [
        "“No page.” Check the address.",
        "The service found no images on its page.",
    ]
    assert states(batch) == ["failed", "failed"]
    assert not Charge.objects.filter(job__batch_row__batch=batch).exists()


def test_a_retry_reads_the_page_again_and_uses_the_script_that_was_paid(
    make_batch, page_history, priya
):
    batch = advance(start(priya, make_batch(f"Lakes,,,{LINK},", headers=HEADERS)))
    (job,) = jobs_of(batch)
    read_page(job)
    advance(batch)
    write_script(Charge.objects.get(job=job), SCRIPT)
    price_draft(job, 41)
    continue_planned_render(job.pk)
    end_render(charges_of(batch)[0], 41, failed=True)
    batch = advance(batch)
    run = load_dry_run(priya, batch, actions.load_failed_rows(batch))
    assert run.total.usual == 40
    version = actions.dry_run_version(run)
    actions.retry_failed_rows(by=priya, batch=batch, seen=run.total.usual, version=version)
    batch = advance(batch)
    (again,) = jobs_of(batch)
    assert again != job
    read_page(again)
    price_draft(again, 40)
    advance(batch)
    assert [charge.operation for charge in again.charges.all()] == ["faceless.render"]
