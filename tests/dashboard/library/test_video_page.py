"""One video's page: who sees it, what it offers to whom, and the two acts that ask first."""

from __future__ import annotations

import gzip
import re
import uuid
from itertools import product
from typing import Any

import pytest
from django.test import Client

from dashboard.models import ApprovalRequest
from dashboard.shared.videos.parts import EXPORT
from proxyapi.models import Charge, ChargeState, Job, TokenState
from tests.cases import each_case
from tests.factories import ChargeFactory


def page_of(client: Client, job: Job, rest: str = "") -> Any:
    return client.get(f"/videos/{job.pk}/{rest}")


def form(job: Job, **other: str) -> dict[str, str]:
    """What the dialog of a failure posts."""
    failed_at = job.finished_at.isoformat() if job.finished_at else ""
    return {"nonce": str(uuid.uuid4()), "price": "96", "failed_at": failed_at, **other}


@each_case(
    "role, state",
    product(
        ["mira", "jonas", "thea", "priya", "luca", "vera"],
        ["draft", "running", "completed", "failed"],
    ),
)
def test_every_member_opens_every_state(role, state, request, make_video_job, client_of):
    answer = page_of(client_of(request.getfixturevalue(role)), make_video_job(state))
    assert answer.status_code == 200
    assert answer.content.count(b"<h1>") == 1


@pytest.mark.parametrize("role", ["thea", "vera"])
@pytest.mark.parametrize("rest", ["retries/", "hide/"])
def test_who_does_not_render_is_refused(role, rest, request, make_video_job, client_of):
    client, job = client_of(request.getfixturevalue(role)), make_video_job("failed")
    assert page_of(client, job, rest).status_code == 403
    assert client.post(f"/videos/{job.pk}/{rest}").status_code == 403


@pytest.mark.parametrize("role", ["mira", "jonas", "priya", "luca"])
def test_who_renders_finds_the_priced_retry(
    role, request, make_video_job, add_settled_charge, client_of
):
    job = make_video_job("failed")
    add_settled_charge(job)
    page = page_of(client_of(request.getfixturevalue(role)), job).content.decode()
    assert re.search(r'Retry</span>\s*<span class="btn__price">≈ 96 cr', page)


@pytest.mark.parametrize("kind", ["faceless", "clip", "storyboard"])
def test_the_free_download_is_the_only_primary_button(kind, make_video_job, priya, client_of):
    job = make_video_job("completed", kind=kind)
    html = page_of(client_of(priya), job, "actions/?at=head").content.decode()
    assert re.findall(r'btn--primary"\s+href="([^"]+)"', html) == [
        f"/videos/{job.pk}/media/?download=1"
    ]
    assert html.count("btn--primary") == 1


def test_beside_an_approval_the_download_is_not_primary(make_video_job, priya, mira, client_of):
    job = make_video_job("completed")
    asked = ChargeFactory.create(job=job, operation=EXPORT, state=ChargeState.DRAFT, hold=10)
    ApprovalRequest.objects.create(team=priya.team, charge=asked, member=priya.user)
    html = page_of(client_of(mira), job, "actions/?at=head").content.decode()
    assert "Download" in html
    assert html.count("btn--primary") == 1
    assert re.search(r'btn--primary"\s+href="[^"]+/approvals/"', html)


def test_every_button_of_the_page_has_a_label_and_the_rest_is_in_one_menu(
    make_video_job, priya, client_of
):
    job = make_video_job("completed")
    html = page_of(client_of(priya), job, "actions/?at=head").content.decode()
    labels = re.findall(r"<span>([^<]+)</span>", html)
    assert labels == ["Download", "Export", "New from this", "More"]
    assert "btn--square" not in html
    menu = page_of(client_of(priya), job, "menu/").content.decode()
    for label in ("Make versions", "Save as preset", "Labels", "Hide from the library"):
        assert re.search(rf"</svg>\s*{label}", menu)


def test_a_viewer_finds_the_film_and_nothing_that_charges(make_video_job, vera, client_of):
    page = page_of(client_of(vera), make_video_job("completed")).content.decode()
    assert "?download=1" in page
    assert "btn__price" not in page
    assert "/hide/" not in page


def test_a_retry_on_a_dead_token_is_disabled_with_the_reason(
    make_video_job, token, priya, client_of
):
    job = make_video_job("failed")
    type(token).objects.update(state=TokenState.REVOKED)
    page = page_of(client_of(priya), job).content.decode()
    assert "The token it was made with no longer works." in page
    assert f'href="/videos/{job.pk}/retries/"' not in page


def test_the_question_before_a_retry_has_price_hold_and_nonce(
    make_video_job, add_settled_charge, priya, client_of
):
    """pitfall_41, pitfall_42: it charges again, and about what it took the last time."""
    job = make_video_job("failed")
    add_settled_charge(job)
    answer = client_of(priya).get(f"/videos/{job.pk}/retries/", headers={"HX-Request": "true"})
    page = answer.content.decode()
    for said in ("Cost of the last run", "A retry is charged again", 'name="nonce"', "106"):
        assert said in page
    assert "<html" not in page


def test_the_question_has_no_button_while_less_is_free_than_a_retry_holds(
    make_video_job, add_settled_charge, account, priya, client_of
):
    job = make_video_job("failed")
    add_settled_charge(job)
    type(account).objects.update(balance=3)
    client = client_of(priya)
    page = client.get(f"/videos/{job.pk}/retries/", headers={"HX-Request": "true"})
    html = page.content.decode()
    assert "3 cr free; 106 would be held" in html
    assert "btn--primary" not in html
    assert "Left on the account" not in html


def test_the_question_has_no_button_while_the_token_does_not_open(
    make_video_job, add_settled_charge, token, priya, client_of
):
    job = make_video_job("failed")
    add_settled_charge(job)
    type(token).objects.update(ciphertext=b"not ours")
    html = page_of(client_of(priya), job, "retries/").content.decode()
    assert "The token it was made with can no longer be decrypted." in html
    assert "btn--primary" not in html.partition('id="confirm"')[2]


def test_the_question_has_no_button_while_the_token_does_not_work(
    make_video_job, add_settled_charge, token, priya, client_of
):
    job = make_video_job("failed")
    add_settled_charge(job)
    type(token).objects.update(state="revoked")
    html = page_of(client_of(priya), job, "retries/").content.decode()
    assert "does not work now" in html
    assert "btn--primary" not in html.partition('id="confirm"')[2]


def test_the_question_has_no_button_while_a_retry_is_in_progress(
    make_video_job, add_settled_charge, priya, client_of
):
    job, client = make_video_job("failed"), client_of(priya)
    add_settled_charge(job)
    client.post(f"/videos/{job.pk}/retries/", form(job))
    html = page_of(client, job, "retries/").content.decode()
    assert "It was already requested or sent" in html
    assert "Retry<" not in html.partition('id="confirm"')[2]


def test_without_script_the_question_is_a_page_with_the_dialog_open(
    make_video_job, priya, client_of
):
    page = page_of(client_of(priya), make_video_job("failed"), "retries/").content.decode()
    assert "<html" in page
    assert re.search(r"<dialog[^>]+ open", page)


def test_a_retry_pressed_twice_is_one_charge(make_video_job, add_settled_charge, priya, client_of):
    job, client = make_video_job("failed"), client_of(priya)
    fields = form(job)
    add_settled_charge(job)
    for _ in range(2):
        answer = client.post(f"/videos/{job.pk}/retries/", fields)
        assert answer.status_code == 302
        assert answer.url == f"/videos/{job.pk}/"
    assert Charge.objects.filter(job=job, operation="faceless.retry").count() == 1


def test_a_refused_retry_comes_back_with_the_sentence(
    make_video_job, add_settled_charge, account, priya, client_of
):
    job = make_video_job("failed")
    add_settled_charge(job)
    type(account).objects.update(balance=3)
    headers = {"HX-Request": "true"}
    fields = form(job)
    answer = client_of(priya).post(f"/videos/{job.pk}/retries/", fields, headers=headers)
    page = answer.content.decode()
    assert "Not sent. It needs 106 cr; 3 are free. Nothing was charged." in page
    assert fields["nonce"] in page
    assert not Charge.objects.filter(operation="faceless.retry").exists()


def test_a_retry_at_a_price_that_nobody_saw_is_asked_for_again(
    make_video_job, add_settled_charge, priya, client_of
):
    job = make_video_job("failed")
    add_settled_charge(job)
    fields = form(job, price="92")
    answer = client_of(priya).post(f"/videos/{job.pk}/retries/", fields)
    page = answer.content.decode()
    assert "Not sent. The price was 92 cr and is 96 cr now." in page
    assert 'name="price" value="96' in page
    assert not Charge.objects.filter(operation="faceless.retry").exists()


@pytest.mark.parametrize(
    ("nonce", "price"),
    [("", "106"), ("not a nonce", "106"), ("1" * 400, "106"), (str(uuid.UUID(int=7)), "")],
)
def test_a_broken_form_charges_nothing(nonce, price, make_video_job, priya, client_of):
    job = make_video_job("failed")
    fields = form(job, nonce=nonce, price=price)
    answer = client_of(priya).post(f"/videos/{job.pk}/retries/", fields)
    assert "Nothing was saved or sent" in answer.content.decode()
    assert not Charge.objects.exists()


def test_pitfall_16_hiding_says_that_nothing_is_deleted_and_nothing_comes_back(
    make_video_job, priya, vera, client_of
):
    job, client = make_video_job("running"), client_of(priya)
    assert "no credits are refunded" in page_of(client, job, "hide/").content.decode()
    assert client.post(f"/videos/{job.pk}/hide/").status_code == 302
    assert page_of(client_of(vera), job).status_code == 404


def test_a_pushed_part_leaves_the_acts_to_the_reader(
    make_video_job, add_settled_charge, priya, client_of
):
    job = make_video_job("failed")
    add_settled_charge(job)
    page = page_of(client_of(priya), job, "?part=news").content.decode()
    assert f'hx-get="/videos/{job.pk}/actions/"' in page
    assert "/retries/" not in page


@pytest.mark.parametrize(("at", "found"), [("", "video__acts"), ("?at=head", "page-head__acts")])
def test_the_acts_come_under_the_readers_own_session(
    at, found, make_video_job, vera, priya, client_of
):
    job = make_video_job("failed", draft__estimate=96)
    for reader, may in ((priya, True), (vera, False)):
        page = page_of(client_of(reader), job, f"actions/{at}").content.decode()
        assert found in page
        assert ("/retries/" in page) is may


@pytest.mark.parametrize("at", ["", "?at=head"])
@pytest.mark.parametrize("state", ["draft", "failed"])
def test_every_act_opens_what_it_names(
    state, at, make_video_job, add_settled_charge, priya, client_of
):
    job, client = make_video_job(state), client_of(priya)
    add_settled_charge(job)
    acts = page_of(client, job, f"actions/{at}").content.decode()
    ways = re.findall(r'href="(/[^"]+)"', acts)
    assert [client.get(way, follow=True).status_code for way in ways] == [200] * len(ways) != []


@pytest.mark.parametrize("rest", ["", "actions/", "?part=news", "retries/"])
def test_a_page_takes_few_queries(
    rest, make_video_job, add_settled_charge, priya, client_of, django_assert_max_num_queries
):
    job, client = make_video_job("failed"), client_of(priya)
    for number in range(30):
        add_settled_charge(job, number)
        make_video_job("completed")
    with django_assert_max_num_queries(17 if rest == "retries/" else 14):
        page_of(client, job, rest)


def test_the_page_is_light(make_video_job, priya, client_of):
    page = page_of(
        client_of(priya), make_video_job("completed", draft__settings={"script": "word " * 500})
    )
    assert len(gzip.compress(page.content)) < 20_000


def test_what_people_and_the_service_wrote_is_escaped(
    make_video_job, add_open_charge, priya, client_of
):
    """pitfall_122."""
    planted = "<img src=x onerror=alert(1) hx-get=/evil>"
    job = make_video_job(
        "failed",
        title=planted,
        failure_message=planted,
        failure_code="<b>code</b>",
        draft__settings={"script": planted, "aspect_ratio": planted, "voice_id": planted},
    )
    add_open_charge(job, "refused", reason=planted, code="<b>code</b>", operation="faceless.retry")
    moving = make_video_job(
        "running", raw_status=planted, poll_error=planted, poll_failing_since=job.started_at
    )
    for one in (job, moving):
        for rest in ("", "?part=news", "hide/"):
            page = page_of(client_of(priya), one, rest).content.decode()
            assert "<img" not in page
            assert "<b>code" not in page
