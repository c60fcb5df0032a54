"""Ideas that are selected on their page become a batch, a row each; nothing is sent."""

from __future__ import annotations

import uuid

from dashboard.models import AuditEvent, Batch, DraftOrigin
from proxyapi.models import Charge, Job
from tests.dashboard.batches.conftest import dry_run, render_all, start, states
from tests.dashboard.ideas.conftest import make_ideas
from tests.factories import AccountFactory

URL = "/batches/of-ideas/"


def test_ideas_become_rows_that_are_checked_and_remember_their_idea(history, priya, client_of):
    ideas = make_ideas(history.account, "Deep lakes", "A lake " + "of salt " * 60)
    jobs = Job.objects.count()
    answer = client_of(priya).post(URL, {"idea": [str(idea.pk) for idea in ideas]})
    batch = Batch.objects.get()
    assert answer["Location"] == f"/batches/{batch.pk}/"
    assert batch.name == "Ideas: Deep lakes"
    assert [check.status for check in dry_run(priya, batch).checks] == ["ready", "ready"]
    assert [row.cells[1] for row in batch.rows.all()] == [idea.title[:500] for idea in ideas]
    assert max(len(row.cells[0]) for row in batch.rows.all()) <= 80
    assert Job.objects.count() == jobs
    assert AuditEvent.objects.filter(action="batch.create").count() == 1
    render_all(start(priya, batch))
    assert states(batch) == ["done", "done"]
    origins = DraftOrigin.objects.filter(job__batch_row__batch=batch)
    assert {origin.idea for origin in origins} == set(ideas)


def test_a_foreign_idea_makes_no_batch_at_all(history, priya, client_of):
    (own,) = make_ideas(history.account, "Deep lakes")
    (foreign,) = make_ideas(AccountFactory.create(), "Whales of others")
    charges = Charge.objects.count()
    for other in (foreign.pk, uuid.uuid4(), "x"):
        answer = client_of(priya).post(URL, {"idea": [str(own.pk), str(other)]})
        assert answer.status_code == 404
    assert not Batch.objects.exists()
    assert Charge.objects.count() == charges


def test_without_a_selection_a_sentence_says_so_and_the_page_has_the_button(
    history, priya, client_of
):
    make_ideas(history.account, "Deep lakes")
    answer = client_of(priya).post(URL, {}, follow=True)
    assert answer.redirect_chain == [("/ideas/", 302)]
    page = answer.content.decode()
    assert "Select an idea first." in page
    assert f'formaction="{URL}"' in page
