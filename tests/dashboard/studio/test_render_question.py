"""The question before a render, and the render: once, at its price, by those who may."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal

import pytest
from django.test import Client

from dashboard.models import Budget, Membership
from dashboard.shared.charts.price_range import build_price_range
from dashboard.studio.queries import build_render_question
from proxyapi.models import Account, Charge, ChargeState, Draft, Job
from tests.dashboard.studio.conftest import OPTIONS, WANTED, Browser, get_page, job_url, step_url
from tests.factories import ChargeFactory

HTMX = {"HX-Request": "true"}


def form(job: Job, nonce: object = None) -> dict[str, object]:
    """What the dialog posts: its nonce, and the price that was seen."""
    return {"nonce": uuid.uuid4() if nonce is None else nonce, "price": job.draft.estimate}


def nonce_of(browser: Client, job: Job) -> str:
    found = re.search(r'name="nonce" value="([^"]+)"', get_page(browser, job_url(job, "renders")))
    assert found
    return found[1]


def test_the_question_shows_estimate_hold_and_what_is_left(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), job_url(ready, "renders"), **HTMX)
    assert "Render “<bdi>How to read a glacier</bdi>”?" in html
    assert "AI visuals, 16:9, 60 s, read by Maren." in html
    for value in ("96", "106", "4318", "4212"):
        assert f'value="{value}"' in html
    assert "promises no refund" in html


def test_without_script_the_question_is_a_page(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), job_url(ready, "renders"))
    assert "<html" in html
    assert re.search(r"<dialog[^>]* open ", html)


@pytest.mark.parametrize("price", ["sNaN", "NaN", "Infinity", "1e999999", "", "much"])
def test_a_price_that_is_none_was_not_drawn_by_us_and_nothing_is_held(
    price: str, priya: Membership, ready: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(
        job_url(ready, "renders"), {"nonce": uuid.uuid4(), "price": price}
    )
    assert "the price in this form is missing or damaged" in answer.content.decode()
    assert not Charge.objects.exists()


def test_a_render_holds_the_credits_and_goes_to_the_video(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    answer = browser.post(job_url(ready, "renders"), form(ready, nonce_of(browser, ready)))
    assert answer.url == f"/videos/{ready.pk}/"
    charge = Charge.objects.get()
    assert (charge.state, charge.quote, charge.hold) == ("held", Decimal(96), Decimal(106))


def test_htmx_is_sent_to_the_video_as_well(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(job_url(ready, "renders"), form(ready), headers=HTMX)
    assert answer["HX-Redirect"] == f"/videos/{ready.pk}/"


def test_a_double_press_charges_once(priya: Membership, ready: Job, client_of: Browser) -> None:
    """pitfall_40"""
    browser = client_of(priya)
    nonce = nonce_of(browser, ready)
    answers = [browser.post(job_url(ready, "renders"), form(ready, nonce)) for _ in range(2)]
    assert [answer.url for answer in answers] == [f"/videos/{ready.pk}/"] * 2
    assert Charge.objects.count() == 1


def test_two_tabs_charge_once_and_the_second_says_so(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    """pitfall_40: each tab has a nonce of its own, the job has one open charge."""
    browser = client_of(priya)
    first, second = nonce_of(browser, ready), nonce_of(browser, ready)
    browser.post(job_url(ready, "renders"), form(ready, first))
    answer = browser.post(job_url(ready, "renders"), form(ready, second), headers=HTMX)
    assert "Nothing was sent twice." in answer.content.decode()
    assert Charge.objects.count() == 1


def test_too_few_credits_are_refused_in_the_dialog(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    """pitfall_58"""
    ready.account.balance = Decimal(100)
    ready.account.save()
    answer = client_of(priya).post(job_url(ready, "renders"), form(ready), headers=HTMX)
    html = answer.content.decode()
    assert "Not sent. It needs 106 cr; 100 are free. Nothing was charged." in html
    assert 'id="confirm"' in html
    assert not Charge.objects.exists()


def test_what_extra_credits_may_pay_is_sent_on_an_explicit_press(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    Account.objects.filter(pk=ready.account_id).update(balance=5, extra_credits=120)
    browser = client_of(priya)
    html = browser.get(job_url(ready, "renders")).content.decode()
    assert "The service also shows 120 extra credits." in html
    assert 'name="anyway" value="1"' in html
    assert "Send it anyway" in html
    assert "96 cr</span>" in html
    assert "5 cr are free, and 120 extra" in browser.get(step_url(ready, "review")).content.decode()
    posted = form(ready)
    browser.post(job_url(ready, "renders"), posted)
    assert not Charge.objects.exists()  # the press of an older question
    for _ in range(2):
        browser.post(job_url(ready, "renders"), {**posted, "anyway": "1"})
    assert Charge.objects.get().hold == 106
    Account.objects.filter(pk=ready.account_id).update(has_separate_extra=False)
    assert "Send it anyway" not in browser.get(job_url(ready, "renders")).content.decode()


@pytest.mark.parametrize("limit", ["budget", "other purse"])
def test_a_press_beyond_the_balance_passes_no_other_limit(
    limit: str, priya: Membership, ready: Job, client_of: Browser
) -> None:
    extra = 120 if limit == "budget" else 100
    Account.objects.filter(pk=ready.account_id).update(balance=5, extra_credits=extra)
    if limit == "budget":
        Budget.objects.create(team=priya.team, hard=50)
    browser = client_of(priya)
    assert "Send it anyway" not in browser.get(job_url(ready, "renders")).content.decode()
    browser.post(job_url(ready, "renders"), {**form(ready), "anyway": "1"})
    assert not Charge.objects.exists()


def test_the_question_offers_no_render_now_while_less_is_free_than_is_held(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    ready.account.balance = Decimal(100)
    ready.account.save()
    html = get_page(client_of(priya), job_url(ready, "renders"), **HTMX)
    assert "100 cr free; 106 would be held" in html
    assert 'value="now" disabled' in html
    assert "<span>Render</span>" not in html
    assert "Left on the account" not in html
    client_of(priya).post(job_url(ready, "renders"), form(ready))
    assert not Charge.objects.exists()
    ready.account.balance = Decimal(106)
    ready.account.save()
    html = get_page(client_of(priya), job_url(ready, "renders"), **HTMX)
    assert "<span>Render</span>" in html
    assert 'value="now" checked' in html
    assert "Left on the account" in html


def test_a_draft_without_a_price_is_not_sent(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    Draft.objects.update(estimate=None)
    answer = client_of(priya).post(job_url(ready, "renders"), form(ready))
    assert answer.status_code == 422
    assert "There is no current price." in answer.content.decode()
    assert not Charge.objects.exists()


@pytest.mark.parametrize("nonce", ["", "not-a-uuid"])
def test_a_form_without_its_nonce_is_nobodys(
    priya: Membership, ready: Job, client_of: Browser, nonce: str
) -> None:
    answer = client_of(priya).post(job_url(ready, "renders"), form(ready, nonce))
    assert answer.status_code == 422
    assert "the form key in this form is missing or damaged" in answer.content.decode()
    assert not Charge.objects.exists()


def test_only_some_may_render(
    vera: Membership, thea: Membership, otto: Membership, ready: Job, client_of: Browser
) -> None:
    sent = {"nonce": uuid.uuid4()}
    statuses = [
        client_of(member).post(job_url(ready, "renders"), sent).status_code
        for member in (vera, thea, otto)
    ]
    assert statuses == [403, 403, 404]
    assert client_of(vera).get(job_url(ready, "renders")).status_code == 403
    assert not Charge.objects.exists()


def test_who_comes_late_is_taken_to_the_video(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    ChargeFactory.create(job=ready, state=ChargeState.HELD)
    assert client_of(priya).get(job_url(ready, "renders")).url == f"/videos/{ready.pk}/"


def test_equal_prices_stand_on_each_other() -> None:
    costs = tuple(Decimal(cost) for cost in (88, 96, 96, 104))
    drawn = build_price_range(costs, Decimal(96), Decimal(106))
    assert drawn is not None
    assert [dot.y for dot in drawn.dots] == [24, 24, 16, 24]
    pile = build_price_range((Decimal(96),) * 14, Decimal(96), Decimal(106))
    assert pile is not None
    assert min(dot.y for dot in pile.dots) == 4  # however many, they stay in the drawing
    assert (drawn.low_x, drawn.estimate_x, drawn.hold_x) == ("25.00%", "50.00%", "81.25%")


def test_without_earlier_prices_nothing_is_drawn(priya: Membership, ready: Job) -> None:
    assert build_render_question(ready, priya).price_range is None


def test_a_price_that_nobody_in_this_tab_saw_is_not_paid(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    seen = form(ready)
    Draft.objects.update(estimate=Decimal(480))
    answer = client_of(priya).post(job_url(ready, "renders"), seen, headers=HTMX)
    html = answer.content.decode()
    assert "Not sent. The price was 96 cr and is 480 cr now" in html
    assert 'name="price" value="480' in html
    assert not Charge.objects.exists()


@pytest.mark.parametrize(("field", "group"), [("voice_id", "voices"), ("genre_id", "genres")])
def test_a_choice_that_vanished_meanwhile_is_not_rendered_and_stays_named(
    priya: Membership, ready: Job, client_of: Browser, field: str, group: str
) -> None:
    """The question was open when the service took the option away."""
    browser = client_of(priya)
    sent = form(ready, nonce_of(browser, ready))
    mandatory = {**OPTIONS["mandatory"], group: OPTIONS["mandatory"][group][1:]}
    ready.account.options = {**OPTIONS, "mandatory": mandatory}
    ready.account.save()
    answer = browser.post(job_url(ready, "renders"), sent, headers=HTMX).content.decode()
    assert "no longer" in answer
    assert not Charge.objects.exists()
    ready.refresh_from_db()
    assert ready.draft.settings[field] == WANTED[field]
