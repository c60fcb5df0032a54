"""Versions to choose from: made as drafts, rendered with one total, each charged once or none."""

from __future__ import annotations

import re
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from dashboard.models import ApprovalRequest, Budget, VersionGroup
from proxyapi.models import Account, Charge, ChargeState, Draft, Job, JobState
from tests.deadlocks import run_beside
from tests.factories import AccountFactory, ChargeFactory, TokenFactory


def create(browser, job, **data):
    fields = {"nonce": uuid4(), "difference": "none", "count": 3}
    return browser.post(f"/studio/{job.pk}/versions/", fields | data)


def versions():
    return list(Job.objects.filter(version__isnull=False).order_by("version__number"))


def set_prices(*credits):
    for job, estimate in zip(versions(), credits, strict=True):
        Draft.objects.filter(job=job).update(
            estimate=Decimal(estimate),
            estimate_as_of=timezone.now(),
            sent_settings=job.draft.settings,
        )


def renders_url():
    return f"/studio/versions/{VersionGroup.objects.get().pk}/renders/"


def shown_fields(browser):
    page = browser.get(renders_url()).content.decode()
    return dict(re.findall(r'name="(nonce|price[-\w]*)" value="([^"]+)"', page))


@pytest.fixture
def three(ready, priya, client_of):
    """Three versions of a complete draft: 96, 90 and 84 credits."""
    browser = client_of(priya)
    assert create(browser, ready).status_code == 302
    set_prices(96, 90, 84)
    return browser


def test_a_draft_becomes_version_one_and_its_copies_the_others(ready, priya, client_of):
    answer = create(client_of(priya), ready, difference="genre_id", genre_id_2="942", count="")
    assert answer["Location"] == f"/library/versions/{VersionGroup.objects.get().pk}/"
    first, second = versions()
    assert (first, VersionGroup.objects.get().size) == (ready, 2)
    assert second.draft.settings == ready.draft.settings | {"genre_id": 942}
    assert second.draft.quote_due_at is not None
    assert not Charge.objects.exists()


def test_versions_differ_in_the_format_that_their_type_can_make(ready, priya, client_of):
    dialog = client_of(priya).get(f"/studio/{ready.pk}/versions/").content.decode()
    offered = re.findall(r'<option value="([^"]+)"', dialog.split('name="aspect_ratio_2"')[1])
    assert ready.draft.settings["aspect_ratio"] not in offered
    other = offered[0]
    create(client_of(priya), ready, difference="aspect_ratio", aspect_ratio_2=other, count="")
    _, second = versions()
    assert second.draft.settings == ready.draft.settings | {"aspect_ratio": other}
    page = client_of(priya).get(f"/library/versions/{VersionGroup.objects.get().pk}/")
    assert "Format: " in page.content.decode()


def test_the_form_sent_twice_creates_them_once(ready, priya, client_of):
    browser, nonce = client_of(priya), uuid4()
    where = {create(browser, ready, nonce=nonce)["Location"] for _ in range(2)}
    assert (len(where), Job.objects.count(), VersionGroup.objects.count()) == (1, 3, 1)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"difference": "genre_id"}, "Choose a genre."),
        ({"difference": "voice_id", "voice_id_2": "7", "voice_id_3": "7"}, "different voice"),
        ({"difference": "genre_id", "genre_id_2": "941"}, "Choose one from the list."),
        ({"difference": "font"}, "Choose one from the list."),
        ({"count": "5"}, "Choose one from the list."),
        ({"nonce": "x"}, "the form key"),
    ],
)
def test_versions_that_cannot_be_created_are_refused_with_a_reason(
    data, sentence, ready, priya, client_of
):
    answer = create(client_of(priya), ready, **data)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert Job.objects.count() == 1


def test_a_finished_video_is_version_one_and_not_charged_again(ready, priya, client_of):
    Job.objects.filter(pk=ready.pk).update(state=JobState.COMPLETED)
    browser = client_of(priya)
    create(browser, ready, count=2)
    set_prices(96, 90)
    fields = shown_fields(browser)
    assert (fields["price"], len(fields)) == ("90.0000", 3)
    browser.post(renders_url(), fields)
    assert Charge.objects.get().job == versions()[1]


def test_a_draft_on_another_account_is_refused(ready, luca, client_of):
    TokenFactory.create(account=AccountFactory(tenant=luca.team.tenant), owner=luca.user)
    assert "another account" in create(client_of(luca), ready).content.decode()
    assert not VersionGroup.objects.exists()


def test_one_answer_charges_each_once_however_often_it_is_sent(three):
    fields = shown_fields(three)
    assert fields["price"] == "270.0000"
    for _ in range(3):
        answer = three.post(renders_url(), fields)
        assert answer["Location"].startswith("/library/versions/")
    charges = Charge.objects.all()
    assert {charge.job for charge in charges} == set(versions())
    assert [charge.state for charge in charges] == [ChargeState.HELD] * 3
    assert len({charge.nonce for charge in charges}) == 3
    assert sum(charge.quote or 0 for charge in charges) == 270
    assert "<h2>Cost</h2>" in three.get(answer["Location"]).content.decode()


def test_the_dialog_has_each_price_the_total_and_what_is_left(three, priya):
    Budget.objects.create(team=priya.team, member=priya.user, hard=2500)
    page = three.get(renders_url(), headers={"HX-Request": "true"}).content.decode()
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    for text in ("Version 1 ≈ 96", "Version 3 ≈ 84", "Total estimate", "≈ 270", "2,500 left until"):
        assert text in words
    assert "Render 3 versions" in words


@pytest.mark.parametrize("prices", [(96, 90, None), (None, None, None)])
def test_until_every_price_is_known_nothing_can_be_sent(prices, ready, priya, client_of):
    browser = client_of(priya)
    create(browser, ready)
    set_prices(96, 90, 84)
    for job, price in zip(versions(), prices, strict=True):
        if price is None:
            Draft.objects.filter(job=job).update(estimate=None)
    page = browser.get(f"/library/versions/{VersionGroup.objects.get().pk}/").content.decode()
    assert page.count("Getting the price") == prices.count(None)
    assert "Available when every price is known." in page
    assert "price" not in shown_fields(browser)
    browser.post(renders_url(), shown_fields(browser))
    assert not Charge.objects.exists()


def test_a_balance_for_some_sends_none(three, ready):
    fields = shown_fields(three)
    Account.objects.update(balance=Decimal(250))
    page = three.post(renders_url(), fields).content.decode()
    assert "250 are free" in page
    assert not Charge.objects.exists()
    assert 'name="price"' in page and "Render 3 versions</span>" not in page


def test_a_budget_for_some_sends_none_and_says_so(three, priya):
    fields = shown_fields(three)
    Budget.objects.create(team=priya.team, member=priya.user, hard=200)
    page = three.post(renders_url(), fields).content.decode()
    assert "No version was sent. Together they need" in page
    assert "200 of your 200 left" in page
    assert "Request approval" in page
    assert not Charge.objects.exists()


def test_over_budget_an_approval_of_each_is_requested_once_and_nothing_is_held(three, priya):
    """Each would fit the budget alone; together they do not."""
    Budget.objects.create(team=priya.team, member=priya.user, hard=200)
    fields = shown_fields(three) | {"ask": "1", "note": "For the launch"}
    for _ in range(2):
        page = three.post(renders_url(), fields, follow=True).content.decode()
    assert "3 approvals were requested. Nothing was charged." in page
    assert [charge.state for charge in Charge.objects.all()] == [ChargeState.DRAFT] * 3
    requests = ApprovalRequest.objects.order_by("charge__job__version__number")
    assert [request.charge.job for request in requests] == versions()
    assert {request.note for request in requests} == {"For the launch"}


def test_an_approval_is_not_requested_for_versions_that_fit_the_budget(three, priya):
    Budget.objects.create(team=priya.team, member=priya.user, hard=2500)
    page = three.post(renders_url(), shown_fields(three) | {"ask": "1"}).content.decode()
    assert "It now fits the budget. Nothing was sent. Confirm again." in page
    assert not Charge.objects.exists()


def test_a_price_that_changed_sends_none(three):
    fields = shown_fields(three)
    set_prices(96, 90, 85)
    page = three.post(renders_url(), fields).content.decode()
    assert "The price was 84 cr and is 85 cr now" in page
    assert not Charge.objects.exists()


@pytest.mark.parametrize("change", ["total", "part", "foreign"])
def test_a_damaged_form_sends_none(change, three, otto):
    fields = shown_fields(three)
    part = next(name for name in fields if name.startswith("price-"))
    if change == "total":
        fields["price"] = "1"
    elif change == "part":
        fields[part] = "x"
    else:
        fields[f"price-{uuid4()}"] = fields.pop(part)
    page = three.post(renders_url(), fields).content.decode()
    assert "The versions have changed. Nothing was sent." in page
    assert not Charge.objects.exists()


def test_a_crash_in_the_middle_leaves_nothing_and_can_be_sent_again(three, monkeypatch):
    fields, written = shown_fields(three), []

    def crash(point):
        written.append(point)
        if len(written) == 2:
            raise RuntimeError("crashed")

    with monkeypatch.context() as patched:
        patched.setattr("proxyapi.failpoints.hit_failpoint", crash)
        three.raise_request_exception = False
        assert three.post(renders_url(), fields).status_code == 500
    assert not Charge.objects.exists()
    three.post(renders_url(), fields)
    assert Charge.objects.count() == 3


def test_a_version_that_was_rendered_alone_is_not_charged_again(three, ready):
    fields = shown_fields(three)
    first = three.get(f"/studio/{ready.pk}/renders/").content.decode()
    alone = dict(re.findall(r'name="(nonce|price)" value="([^"]+)"', first))
    three.post(f"/studio/{ready.pk}/renders/", alone)
    page = three.post(renders_url(), fields).content.decode()
    assert "already in progress" in page
    assert Charge.objects.count() == 1
    three.post(renders_url(), shown_fields(three))
    assert Charge.objects.count() == 3


def test_one_is_kept_and_the_others_are_hidden_with_undo(three, vera, client_of):
    url = f"/library/versions/{VersionGroup.objects.get().pk}/"
    keep = {"keep": versions()[1].pk}
    assert client_of(vera).post(f"{url}choices/", keep).status_code == 403
    assert three.post(f"{url}choices/", {"keep": uuid4()}).status_code == 404
    page = three.post(f"{url}choices/", keep, follow=True).content.decode()
    assert "Version 2 is kept. The others are hidden." in page
    assert "2 versions are hidden." in page
    three.post(f"/library/undo/{three.session['library_undo']['id']}/")
    assert not Job.objects.exclude(hidden_at=None).exists()


def test_none_is_kept_while_a_request_of_another_is_open(three):
    url = f"/library/versions/{VersionGroup.objects.get().pk}/"
    ChargeFactory.create(job=versions()[2])
    keep = {"keep": versions()[1].pk}
    page = three.post(f"{url}choices/", keep, follow=True).content.decode()
    assert "Nothing was hidden. A request of the draft" in page
    assert not Job.objects.exclude(hidden_at=None).exists()


def test_cards_say_which_version_they_are(three, vera, client_of):
    page = client_of(vera).get("/library/").content.decode()
    for number in (1, 2, 3):
        assert f">Version {number} of 3</a>" in page


def test_the_versions_page_takes_at_most_twelve_queries(three, django_assert_max_num_queries):
    url = f"/library/versions/{VersionGroup.objects.get().pk}/"
    three.get(url)  # the first query of a process asks SQLite for its features
    for path in (url, renders_url()):
        with django_assert_max_num_queries(14):
            three.get(path, headers={"HX-Request": "true"} if path != url else {})


@pytest.mark.django_db(transaction=True)
def test_rendering_and_hiding_do_not_wait_for_each_other(three, priya, client_of):
    fields, hider = shown_fields(three), client_of(priya)
    ids = {"video": [job.pk for job in versions()]}
    account = Account.objects.get()
    run_beside(
        account,
        lambda: three.post(renders_url(), fields),
        lambda: hider.post("/library/selection/hide/", ids),
    )
    assert Charge.objects.count() in (0, 3)
