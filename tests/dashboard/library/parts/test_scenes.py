"""The Scenes tab: what each member sees, what a press charges, and what each state says."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.models import Budget
from dashboard.parts.queries.scenes import scene_titles
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import Account, Charge, ChargeState, Job, JobPart, TokenState
from tests.dashboard.library.conftest import ago

FRAGMENT = {"HX-Request": "true"}


def scenes_page(client, job):
    return client.get(f"/videos/{job.pk}/scenes/").content.decode()


def press(client, job, asset="61", price="2", nonce=None, **more):
    part = job.parts.get(remote_id=asset)
    form = {"nonce": str(nonce or uuid.uuid4()), "price": price, **more}
    address = f"/videos/{job.pk}/scenes/{part.pk}/images/"
    return client.post(address, form, headers=FRAGMENT).content.decode()


def card(page, job, asset="61"):
    part = job.parts.get(remote_id=asset)
    return page.partition(f'id="scene-{part.pk}"')[2].partition("</li>")[0]


def text_of(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.fixture
def lost(job, add_open_charge):
    def make(**fields):
        given = {"operation": "ai_visuals.regenerate", "path": {"asset": "61"}, "hold": 2}
        return add_open_charge(job, "unknown", **given, **{"quote": Decimal(2), **fields})

    return make


@pytest.mark.parametrize("role", ["mira", "jonas", "thea", "priya", "luca", "vera"])
def test_every_member_sees_the_images_and_makers_the_prices(role, job, request, client_of):
    page = scenes_page(client_of(request.getfixturevalue(role)), job)
    shown = text_of(card(page, job, "62"))
    assert "Scene 2 " in shown
    assert "≈ " in shown  # the record names no length
    assert "It keeps" in shown
    assert page.count("New image") == (0 if role in ("thea", "vera") else 3)
    assert ("can change the images" in page) is (role in ("thea", "vera"))
    assert ("The first 5 on this account are free" in page) is (role not in ("thea", "vera"))


def test_starts_are_told_only_if_the_record_names_every_length():
    """A voice may speak faster than was guessed: no scene starts after the end of its film."""
    parts = [JobPart(text="ice " * 20, details={"duration": 6.4}) for _ in range(3)]
    assert [title for _, title, _ in scene_titles(parts)][2] == "Scene 3, 0:13"
    parts[1].details = {}
    assert scene_titles(parts)[2] == (3, "Scene 3", "6 s")
    assert scene_titles(parts)[1] == (2, "Scene 2", "≈ 8 s")


def test_a_press_holds_the_full_price_and_shows_the_scene_in_progress(job, priya, client_of):
    """Also where the service grants free uses: nobody knows how many are left."""
    page = press(client_of(priya), job)
    charge = Charge.objects.get()
    assert (charge.operation, charge.path) == ("ai_visuals.regenerate", {"asset": "61"})
    assert (charge.hold, charge.quote) == (2, 2)
    assert "One at a time for each scene." in card(page, job)
    assert "aria-describedby" in card(page, job)
    assert "aria-describedby" not in card(page, job, "62")


def test_pressing_twice_charges_once(job, priya, client_of):
    nonce = uuid.uuid4()
    for _ in range(2):
        press(client_of(priya), job, nonce=nonce)
    assert "already in progress" in press(client_of(priya), job)
    assert Charge.objects.count() == 1


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"price": "1"}, "The price was 1 cr and is 2 cr now"),
        ({"nonce": "x"}, "the form key in this form is missing or damaged"),
    ],
)
def test_a_refused_press_says_why_in_its_scene(form, said, job, priya, client_of):
    page = press(client_of(priya), job, **form)
    assert said in text_of(card(page, job))
    assert not Charge.objects.exists()


def test_without_credits_or_budget_nothing_is_sent(job, priya, client_of):
    Budget.objects.create(team=priya.team, member=priya.user, hard=1)
    page = card(press(client_of(priya), job), job)
    assert "Request approval" in page
    Budget.objects.all().delete()
    Account.objects.update(balance=1)
    assert "Nothing was charged" in card(press(client_of(priya), job), job)
    assert not Charge.objects.exists()


def test_a_lost_answer_is_shown_as_unknown_with_both_amounts(job, lost, priya, client_of):
    lost()
    shown = card(scenes_page(client_of(priya), job), job)
    assert "frame__blank" in shown
    assert "0 or 2 cr" in text_of(shown)
    assert "It was not sent again, and 2 cr stay held" in text_of(shown)
    assert "Available when the charge is settled." in shown


def test_a_refused_image_keeps_the_services_words_and_cost_nothing(
    job, add_settled_charge, priya, client_of
):
    given = {"operation": "ai_visuals.regenerate", "path": {"asset": "61"}, "state": "refused"}
    when = ago(10)
    add_settled_charge(job, 0, **given, reason="“Not from these words.”", sent_at=when)
    shown = text_of(card(scenes_page(client_of(priya), job), job))
    assert "“Not from these words.” Nothing was charged." in shown
    Charge.objects.update(settled_at=timezone.now() - timedelta(days=2))
    assert "Not from these words" not in scenes_page(client_of(priya), job)


def test_an_image_that_failed_after_it_was_paid_says_what_it_cost(
    job, add_settled_charge, priya, client_of
):
    failure = {"id": 61, "source": "generated", "status": "failed", "failure": "No such thing."}
    store_parts(job, {"assets": [failure]}, ("assets",))
    add_settled_charge(job, 2, operation="ai_visuals.regenerate", path={"asset": "61"})
    shown = text_of(card(scenes_page(client_of(priya), job), job))
    assert "“No such thing.” 2 cr were charged, no refund seen." in shown


def test_the_rail_sums_what_changed_and_offers_the_render(
    job, add_settled_charge, priya, vera, client_of
):
    add_settled_charge(job)
    for asset in ("61", "62", "62"):
        now = timezone.now()
        fields = {"path": {"asset": asset}, "applied_at": now, "sent_at": now}
        add_settled_charge(job, 2, operation="ai_visuals.regenerate", **fields)
    shown = text_of(scenes_page(client_of(priya), job))
    assert "2 of 3 images. The video keeps the old images until you render it again." in shown
    assert "New images scenes 1 and 2 (twice) 6 cr" in shown
    assert "Render again ≈ 96 cr" in shown
    assert "Render again" not in scenes_page(client_of(vera), job)


def test_the_render_is_charged_after_a_question(job, add_settled_charge, priya, client_of):
    add_settled_charge(job)
    client, address = client_of(priya), f"/videos/{job.pk}/new-renders/"
    question = client.get(address, headers=FRAGMENT).content.decode()
    assert "the new video replaces the present one" in question
    form = dict(re.findall(r'name="(nonce|price)" value="([^"]+)"', question))
    assert client.post(address, form).status_code == 302
    charge = Charge.objects.get(state=ChargeState.HELD)
    assert (charge.operation, charge.quote) == ("faceless.render", 96)


def test_while_the_video_is_rendering_nothing_can_be_pressed(job, priya, client_of):
    Job.objects.update(state="running", next_poll_at=timezone.now())
    page = scenes_page(client_of(priya), job)
    assert "The video is rendering. Available when it is done." in card(page, job)
    assert "Not sent: the video is rendering" in press(client_of(priya), job)


def test_on_a_token_that_does_not_work_buttons_are_disabled(job, priya, client_of):
    job.token.state = TokenState.REVOKED
    job.token.save()
    assert "does not work now" in card(scenes_page(client_of(priya), job), job)


def test_before_the_first_render_it_says_what_will_stand_here(make_video_job, priya, client_of):
    page = scenes_page(client_of(priya), make_video_job("draft"))
    assert "No images yet" in page
    assert "Use my own" in page


def test_a_video_of_another_type_has_no_scenes(make_video_job, priya, client_of):
    job = make_video_job("completed", draft__settings={"type": "b-roll"})
    assert client_of(priya).get(f"/videos/{job.pk}/scenes/").status_code == 404
    page = client_of(priya).get(f"/videos/{job.pk}/").content.decode()
    assert "Parts of this video" not in page


def test_the_page_is_light_and_takes_few_queries(
    job, priya, client_of, django_assert_max_num_queries
):
    many = [{"id": id, "source": "generated", "text": "word " * 12} for id in range(100, 124)]
    store_parts(job, {"assets": many}, ("assets",))
    client = client_of(priya)
    scenes_page(client, job)
    with django_assert_max_num_queries(14):
        page = scenes_page(client, job)
    assert len(page) < 110_000  # 60 kB is meant as sent, compressed


def test_a_screen_reader_hears_what_is_being_made(job, priya, client_of):
    page = press(client_of(priya), job)
    said = page.partition('id="scenes-said"')[2]
    assert "A new image is being made: Scene 1." in said
