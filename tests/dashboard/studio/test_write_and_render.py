"""Write and render: one question with one total as a range, one answer, and the page that waits."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.models import Budget, Membership, PlannedRender
from dashboard.studio.planned_renders import continue_planned_render
from proxyapi.models import Charge, ChargeState, Draft, Job
from tests.dashboard.studio.conftest import Browser, get_page, job_url, step_url
from tests.dashboard.studio.planned import (
    add_past_renders,
    confirm,
    create_unwritten_draft,
    hidden_fields,
    price_draft,
    write_script,
)

HTMX = {"HX-Request": "true"}
BUTTON = re.compile(r"<button[^>]*/planned-renders/[^>]*>")


@pytest.fixture
def job(ready: Job) -> Job:
    """Complete but for its script; three renders like it cost 88 to 108."""
    add_past_renders(ready, 88, 96, 108)
    return create_unwritten_draft(ready)


def ask(browser: Any, job: Job, **changes: str) -> str:
    """The dialog of a press of "Write and render"."""
    form = {"nonce": str(uuid.uuid4()), "price": "4", "topic": "How ice moves", "duration": "60"}
    answer = browser.post(job_url(job, "planned-renders"), {**form, **changes}, headers=HTMX)
    return str(answer.content.decode())


def answer(browser: Any, job: Job, html: str, **changes: str) -> Any:
    """Confirm the dialog, as its form would."""
    fields = {**hidden_fields(html), **changes}
    return browser.post(job_url(job, "planned-renders"), fields, headers=HTMX)


def test_it_is_offered_where_only_the_script_is_missing(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    button = BUTTON.search(get_page(client_of(priya), step_url(job, "script")))
    assert button
    assert "disabled" not in button[0].replace("hx-disabled-elt", "")


def test_where_more_is_missing_the_page_says_what(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(draft, "script"))
    button = BUTTON.search(html)
    assert button
    assert " disabled aria-describedby=" in button[0]
    said = "is available when this is done: Choose a voice, Choose a genre."
    assert said in " ".join(html.split())
    assert "Write or paste a script" not in html[html.index("plan-note") :][:200]


def test_the_question_has_one_total_as_a_range_and_says_what_is_held(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=Decimal(5000))
    html = " ".join(ask(client_of(priya), job).split())
    assert "AI visuals, 16:9, 60 s, read by Maren." in html
    assert "92 to 112 cr, as your last 3 videos like this cost" in html
    assert "Only the script’s 4 cr are held now." in html
    assert "The render starts by itself when the script is written, if at most 137 cr" in html
    assert "Held at most, for both" in html
    assert 'value="141"' in html  # of the hold of both
    assert "Your budget this month" in html
    assert not Charge.objects.filter(operation="faceless.scripts").exists()


def test_one_answer_requests_the_script_and_plans_the_render(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    done = answer(browser, job, ask(browser, job, tone="Calm"))
    assert done.headers["HX-Redirect"] == step_url(job, "script")
    charge = Charge.objects.get(operation="faceless.scripts")
    assert charge.body == {"topic": "How ice moves", "duration": 60, "tone": "Calm"}
    plan = PlannedRender.objects.get()
    assert (plan.limit, plan.script_charge) == (137, charge)
    assert not Charge.objects.filter(operation="faceless.render", job=job).exists()


def test_the_same_answer_twice_is_one_of_each(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    html = ask(browser, job)
    for _ in range(2):
        answer(browser, job, html)
    assert Charge.objects.filter(operation="faceless.scripts").count() == 1
    assert PlannedRender.objects.count() == 1


def test_the_page_waits_and_offers_to_stop(priya: Membership, job: Job, client_of: Browser) -> None:
    charge, browser = confirm(priya, job), client_of(priya)
    html = " ".join(get_page(browser, step_url(job, "script")).split())
    assert "The render starts when the script is written." in html
    assert "if at most 119 cr are held for it" in html
    assert "Stop rendering after the script" in html
    write_script(charge)
    part = " ".join(get_page(browser, job_url(job, "scripts"), **HTMX).split())
    assert "The render starts when the script is written and its price is known." in part
    assert "<textarea" not in part  # what is typed would stop it, or be lost
    assert 'hx-trigger="reelroom:charge from:body' in part


def test_when_it_is_sent_the_page_goes_to_the_video(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    write_script(confirm(priya, job))
    price_draft(job)
    continue_planned_render(job.pk)
    part = client_of(priya).get(job_url(job, "scripts"), headers=HTMX)
    assert part.headers["HX-Redirect"] == f"/videos/{job.pk}/"


@pytest.mark.parametrize("headers", [HTMX, {}], ids=["htmx", "without scripts"])
def test_a_press_stops_it(
    priya: Membership, job: Job, client_of: Browser, headers: dict[str, str]
) -> None:
    browser = client_of(priya)
    confirm(priya, job)
    for _ in range(2):
        done = browser.post(job_url(job, "planned-renders"), {"stop": "1"}, headers=headers)
        assert done.status_code == (200 if headers else 302)
    assert not PlannedRender.objects.exists()
    html = get_page(browser, step_url(job, "script"))
    assert "The script is sent as soon as a worker is free." in html
    assert "Stop rendering" not in html


def test_the_reason_why_it_was_not_sent_is_on_the_draft_until_it_is_rendered(
    priya: Membership, luca: Membership, vera: Membership, job: Job, client_of: Browser
) -> None:
    write_script(confirm(priya, job))
    price_draft(job, 400)
    continue_planned_render(job.pk)
    for person, step in ((priya, "script"), (luca, "review"), (vera, "script")):
        html = get_page(client_of(person), step_url(job, step))
        assert html.count("The render did not start by itself.") == 1
        assert "more than the 119 cr" in html
    browser = client_of(priya)
    browser.post(job_url(job, "renders"), {"nonce": str(uuid.uuid4()), "price": "400"})
    assert Charge.objects.filter(job=job, operation="faceless.render").exists()
    assert not PlannedRender.objects.exists()


def test_every_other_step_says_that_a_change_stops_it(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    confirm(priya, job)
    html = get_page(client_of(priya), step_url(job, "voice"))
    assert "The render starts by itself when the script is written." in html


def test_without_scripts_the_dialog_is_open_on_the_page(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    form = {"nonce": str(uuid.uuid4()), "price": "4", "topic": "Kelp & ice", "duration": "60"}
    browser = client_of(priya)
    page = browser.post(job_url(job, "planned-renders"), form)
    html = page.content.decode()
    assert page.status_code == 200
    assert re.search(r'<dialog class="dialog" id="confirm"[^>]* open data-page', html)
    assert 'name="topic" value="Kelp &amp; ice"' in html
    fields = hidden_fields(html) | {"topic": "Kelp & ice"}
    done = browser.post(job_url(job, "planned-renders"), fields)
    assert done.url == step_url(job, "script")
    assert Charge.objects.get(operation="faceless.scripts").body["topic"] == "Kelp & ice"


def test_an_empty_topic_is_said_at_its_field(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    form = {"nonce": str(uuid.uuid4()), "price": "4", "topic": "", "duration": "60"}
    browser = client_of(priya)
    part = browser.post(job_url(job, "planned-renders"), form, headers=HTMX)
    assert (part.headers["HX-Retarget"], part.headers["HX-Reswap"]) == ("#script", "outerHTML")
    assert "Enter a topic." in part.content.decode()
    assert browser.post(job_url(job, "planned-renders"), form).status_code == 422


def test_a_length_that_was_never_rendered_has_no_total(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    html = ask(client_of(priya), job, duration="300")
    assert "No video like this was rendered yet" in html
    assert 'type="submit"' not in html


def test_what_no_budget_or_person_allows_alone_is_not_offered_together(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    browser, team = client_of(priya), priya.team
    budget = Budget.objects.create(team=team, member=priya.user, hard=Decimal(292 + 140))
    html = ask(browser, job)
    assert "Write the script alone" in html
    assert 'type="submit"' not in html
    budget.hard = Decimal(292 + 141)  # the past renders are of this month, too
    budget.save()
    assert 'type="submit"' in ask(browser, job)
    team.second_person_above = Decimal(136)
    team.save()
    html = ask(browser, job)
    assert "second person" in html
    assert 'type="submit"' not in html


def test_too_few_credits_are_said_before_anything_is_charged(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    job.account.balance = Decimal(140)
    job.account.save()
    html = ask(client_of(priya), job)
    assert "140 cr free; 141 would be held" in html
    assert 'type="submit"' not in html


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"script_price": "3"}, "The price was 3 cr and is 4 cr now"),
        ({"limit": "-1"}, "the limit of the render in this form is missing or damaged"),
        ({"limit": "much"}, "the limit of the render in this form is missing or damaged"),
        ({"settings": "0" * 64}, "The settings of this draft have changed."),
    ],
)
def test_a_refused_answer_charges_nothing_and_asks_again(
    priya: Membership, job: Job, client_of: Browser, changes: dict[str, str], sentence: str
) -> None:
    browser = client_of(priya)
    html = answer(browser, job, ask(browser, job), **changes).content.decode()
    assert sentence in html
    assert hidden_fields(html)["topic"] == "How ice moves"
    assert not Charge.objects.filter(operation="faceless.scripts").exists()
    answer(browser, job, html)
    assert PlannedRender.objects.active().exists()


def test_a_draft_that_was_sent_leads_to_its_video(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    write_script(confirm(priya, job))
    price_draft(job)
    continue_planned_render(job.pk)
    done = client_of(priya).post(job_url(job, "planned-renders"), {"stop": "1"}, headers=HTMX)
    assert done.headers["HX-Redirect"] == f"/videos/{job.pk}/"
    assert Charge.objects.get(operation="faceless.render", job=job).state == ChargeState.HELD


def test_the_question_reads_the_database_a_fixed_number_of_times(
    priya: Membership, job: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    ask(browser, job)
    add_past_renders(job, 90, 91)
    Draft.objects.filter(pk=job.pk).update(estimate=None)
    with CaptureQueriesContext(connection) as queries:
        ask(browser, job)
    assert len(queries) <= 20
