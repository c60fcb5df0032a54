"""The Source step: a page is requested once, its images are put in order, its script is priced."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership
from dashboard.studio import actions
from dashboard.studio.flows import StepSlug
from dashboard.studio.queries import load_studio_page
from dashboard.studio.views.pages import move_image
from proxyapi.kinds import page_reading
from proxyapi.models import (
    Charge,
    ChargeState,
    Draft,
    Job,
    JobPart,
    PageRead,
    PageReadState,
    Token,
)
from proxyapi.refusals import NotReady
from tests.dashboard.studio.conftest import SCRIPT, Browser, get_page, job_url, step_url
from tests.factories import ChargeFactory, JobFactory

HTMX = {"HX-Request": "true"}
PAGE = "https://travel.example.com/trains"
SETTINGS = {"type": "url-based", "title": "Trains", "aspect_ratio": "16:9"}


@pytest.fixture
def page_draft(token: Token) -> Job:
    """Of a web page that was not read yet."""
    job: Job = JobFactory.create(
        account=token.account, token=token, title="Trains", draft__settings=SETTINGS
    )
    return job


@pytest.fixture
def read_draft(page_draft: Job) -> Job:
    """Its page has three images and a logo; the service takes an order."""
    assets = images_of_night_trains()
    Job.objects.filter(pk=page_draft.pk).update(remote_id="7")
    row = page_reading.request_page_read(page_draft, PAGE)
    page_draft.refresh_from_db()
    page_reading.store_page_images(page_draft, row, {"assets": assets}, timezone.now())
    return Job.objects.select_related("draft").get(pk=page_draft.pk)


def images_of_night_trains() -> list[dict[str, Any]]:
    return [
        {"id": id, "text": text, "url": f"https://media.example/{id}.jpg", "used": True}
        for id, text in ((11, "Night"), (12, "Pass"), (13, "Logo"), (14, "Coffee"))
    ]


def order_of(job: Job) -> list[int]:
    return list(Draft.objects.get(pk=job.pk).settings["assets"])


def arrange(browser: Any, job: Job, *ids: int, seen: str = "11,12,14", **form: str) -> Any:
    data = {"assets": list(ids), "seen": seen, **form}
    return browser.post(job_url(job, "images"), data, headers=HTMX)


def test_the_steps_of_a_web_page_have_neither_genre_nor_engine(
    priya: Membership, page_draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(page_draft, "source"))
    assert "Which page?" in html
    assert "The images of the page come here." in html
    assert "Read the images of a web page" in html
    assert client_of(priya).get(step_url(page_draft, "script")).status_code == 404
    visuals = get_page(client_of(priya), step_url(page_draft, "visuals"))
    assert "genre_id" not in visuals
    assert "image_engine_id" not in visuals


def test_a_page_is_requested_in_the_background(
    priya: Membership, page_draft: Job, client_of: Browser
) -> None:
    """pitfall_48: its images come before the paid script."""
    answer = client_of(priya).post(
        job_url(page_draft, "page-read"), {"url": "travel.example.com/trains"}, headers=HTMX
    )
    html = answer.content.decode()
    row = PageRead.objects.get(job=page_draft)
    assert (row.url, row.state) == (PAGE, "reading")
    assert "Asking the service for the images" in html
    assert "reelroom:job from:body" in html
    assert "Available when the page was read." in get_page(
        client_of(priya), step_url(page_draft, "source")
    )


def test_images_that_arrive_while_the_page_is_made_are_on_it(
    priya: Membership, page_draft: Job
) -> None:
    """The job was read before, and the reading is done afterwards."""
    seen = Job.objects.select_related("draft").get(pk=page_draft.pk)
    row = page_reading.request_page_read(page_draft, PAGE)
    page_reading.store_page_images(
        page_draft, row, {"assets": images_of_night_trains()}, timezone.now()
    )
    page = load_studio_page(seen, priya, StepSlug.SOURCE)
    assert [image.name for image in page.source.used] == ["Night", "Pass", "Coffee"]
    assert page.step_progress.current.note == "3 images, no script yet"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("https://youtu.be/4k", "The service does not read video and social sites."),
        ("http://127.0.0.1/", "this address is in a private network"),
        ("", "Enter the address of a web page."),
    ],
)
def test_a_refused_address_is_kept_and_nothing_is_requested(
    priya: Membership, page_draft: Job, client_of: Browser, url: str, sentence: str
) -> None:
    """pitfall_118"""
    browser = client_of(priya)
    for headers in (HTMX, {}):
        answer = browser.post(job_url(page_draft, "page-read"), {"url": url}, headers=headers)
        html = answer.content.decode()
        assert sentence in html
        assert f'value="{url}"' in html or not url
    assert not PageRead.objects.exists()


def test_waiting_for_the_pool_is_shown_and_can_be_stopped(
    priya: Membership, page_draft: Job, client_of: Browser
) -> None:
    row = page_reading.request_page_read(page_draft, PAGE)
    page_reading.postpone_page_read(row, 38, "", attempts=1)
    browser = client_of(priya)
    html = get_page(browser, job_url(page_draft, "page-read"), **HTMX)
    assert "The service is reading pages for others right now." in html
    assert '<span class="num" data-left="38">38 s</span>, attempt 2 of 6.' in html
    html = browser.post(
        job_url(page_draft, "page-read"), {"stop": "1"}, headers=HTMX
    ).content.decode()
    assert "Reading was stopped." in html
    assert PageRead.objects.get().due_at is None


def test_a_failed_reading_keeps_the_address_with_its_reason(
    priya: Membership, page_draft: Job, client_of: Browser
) -> None:
    row = page_reading.request_page_read(page_draft, PAGE)
    page_reading.finish_page_read(
        row, PageReadState.FAILED, "“The page could not be reached.” Check it."
    )
    html = get_page(client_of(priya), step_url(page_draft, "source"))
    assert "“The page could not be reached.” Check it." in html
    assert f'value="{PAGE}"' in html


def test_the_images_stand_in_their_order_and_a_logo_apart(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(read_draft, "source"))
    assert "4 images found, 3 used." in html
    names = [html.index(f'data-name="{name}"') for name in ("Night", "Pass", "Coffee", "Logo")]
    assert names == sorted(names)
    assert html.index("Not used") < names[-1]
    assert "Looks like a logo" in html
    part = JobPart.objects.get(remote_id="11")
    assert f"/videos/{read_draft.pk}/parts/{part.pk}/media/" in html


def test_an_order_is_saved_and_can_be_undone(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    html = arrange(browser, read_draft, 14, 11).content.decode()
    assert order_of(read_draft) == [14, 11]
    assert 'value="14,11"' in html
    assert "Undo" in html
    answer = arrange(browser, read_draft, 11, 12, 14, seen="14,11", undo="1")
    assert answer.headers["HX-Retarget"] == "#source"
    assert order_of(read_draft) == [11, 12, 14]


def test_an_order_of_images_that_changed_meanwhile_is_not_saved(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    answer = arrange(client_of(priya), read_draft, 14, 11, seen="11,12,13,14")
    assert "The images were changed meanwhile" in answer.content.decode()
    assert order_of(read_draft) == [11, 12, 14]


def test_ids_of_other_images_and_twice_the_same_are_left_out(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    arrange(client_of(priya), read_draft, 14, 99, 14, 12)
    assert order_of(read_draft) == [14, 12]


def test_a_service_that_takes_no_order_is_shown_without_handles(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    PageRead.objects.update(takes_order=False)
    browser = client_of(priya)
    html = get_page(browser, step_url(read_draft, "source"))
    assert "The service shows them in the order of the page." in html
    assert "tile__grip" not in html
    arrange(browser, read_draft, 14, 11)
    assert order_of(read_draft) == [11, 12, 14]


@pytest.mark.parametrize(
    ("move", "order"),
    [
        ("later:11", [12, 11, 14]),
        ("earlier:14", [11, 14, 12]),
        ("earlier:11", [11, 12, 14]),
        ("later:14", [11, 12, 14]),
        ("remove:12", [11, 14]),
        ("use:13", [11, 12, 14, 13]),
        ("later:99", [11, 12, 14]),
        ("", [11, 12, 14]),
    ],
)
def test_without_script_a_button_moves_one_image(
    priya: Membership, read_draft: Job, client_of: Browser, move: str, order: list[int]
) -> None:
    data = {"assets": [11, 12, 14], "seen": "11,12,14", "move": move}
    answer = client_of(priya).post(job_url(read_draft, "images"), data)
    assert answer.url == step_url(read_draft, "source")
    assert order_of(read_draft) == order
    assert move_image(["1"], "junk") == ["1"]


def test_reading_again_asks_before_it_replaces_an_order(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    browser, url = client_of(priya), job_url(read_draft, "page-read")
    arrange(browser, read_draft, 14, 11)
    html = browser.post(url, {"url": PAGE}, headers=HTMX).content.decode()
    assert "Reading again replaces the images and their order.</b>" in html
    assert PageRead.objects.get().state == "done"
    browser.post(url, {"url": PAGE, "again": "on"}, headers=HTMX)
    assert PageRead.objects.get().state == "reading"


def test_a_script_from_the_page_is_charged_at_the_shown_price(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    html = get_page(browser, step_url(read_draft, "source"))
    assert "Write a script from it" in html
    assert "4 cr" in html
    form = {"nonce": str(uuid.uuid4()), "price": "4", "duration": "60", "tone": "Calm"}
    browser.post(job_url(read_draft, "scripts"), form, headers=HTMX)
    charge = Charge.objects.get()
    assert (charge.operation, charge.hold) == ("faceless.scrape_script", Decimal(4))
    assert charge.body == {"url": PAGE, "duration": 60, "tone": "Calm"}


def test_a_page_that_was_not_read_gives_no_script(
    priya: Membership, page_draft: Job, client_of: Browser
) -> None:
    form = {"nonce": str(uuid.uuid4()), "price": "4", "duration": "60"}
    answer = client_of(priya).post(job_url(page_draft, "scripts"), form, headers=HTMX)
    assert "Read the page first. Nothing was sent." in answer.content.decode()
    assert not Charge.objects.exists()


def test_own_words_are_saved_in_the_step(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(step_url(read_draft, "source"), {"script": SCRIPT})
    assert answer.url == step_url(read_draft, "voice")
    assert Draft.objects.get(pk=read_draft.pk).settings["script"] == SCRIPT


@pytest.mark.parametrize(
    ("created", "wanted"), [("ai-visuals", "url-based"), ("url-based", "b-roll")]
)
def test_pitfall_99_the_service_fixes_whether_it_is_a_web_page(
    priya: Membership, page_draft: Job, created: str, wanted: str
) -> None:
    Draft.objects.update(settings={**SETTINGS, "type": created})
    page_draft.refresh_from_db()
    actions.save_draft_step(by=priya, job=page_draft, changes={"type": wanted})
    Draft.objects.update(
        settings={**SETTINGS, "type": created}, sent_settings={**SETTINGS, "type": created}
    )
    Job.objects.update(remote_id="7")
    with pytest.raises(NotReady, match=r"at the service|The service fixed"):
        actions.save_draft_step(by=priya, job=page_draft, changes={"type": wanted})


def test_a_copy_reads_the_page_again(priya: Membership, read_draft: Job) -> None:
    copy = actions.copy_draft(by=priya, job=read_draft)
    assert "assets" not in copy.draft.settings
    assert PageRead.objects.get(job=copy).url == PAGE
    other = actions.copy_draft(by=priya, job=read_draft, type_="b-roll")
    assert "assets" not in other.draft.settings
    assert not PageRead.objects.filter(job=other).exists()


def test_a_video_that_was_sent_reads_no_page(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    ChargeFactory.create(job=read_draft, state=ChargeState.HELD)
    browser = client_of(priya)
    for name in ("page-read", "images"):
        answer = browser.post(job_url(read_draft, name), {"url": PAGE}, headers=HTMX)
        assert answer.headers["HX-Redirect"]
    assert PageRead.objects.get().state == "done"


@pytest.mark.parametrize("state", [ChargeState.DRAFT, ChargeState.HELD])
def test_a_confirmed_render_reads_no_page_again(
    priya: Membership, read_draft: Job, state: ChargeState
) -> None:
    ChargeFactory.create(job=read_draft, state=state)
    with pytest.raises(NotReady, match="The page was not read"):
        actions.read_web_page(by=priya, job=read_draft, url=PAGE)
    assert PageRead.objects.get().state == "done"


def test_nothing_is_rendered_while_the_page_is_read(priya: Membership, read_draft: Job) -> None:
    chosen = {**read_draft.draft.settings, "script": SCRIPT, "voice_id": 11}
    Draft.objects.update(settings=chosen, sent_settings=chosen, estimate=Decimal(96))
    job = Job.objects.select_related("draft").get(pk=read_draft.pk)
    page_reading.request_page_read(job, PAGE)
    with pytest.raises(NotReady, match=r"The page is being read\."):
        actions.render_video(by=priya, job=job, nonce=uuid.uuid4(), seen=Decimal(96))
    assert not Charge.objects.exists()
    actions.stop_reading(by=priya, job=job)
    charge = actions.render_video(by=priya, job=job, nonce=uuid.uuid4(), seen=Decimal(96))
    assert charge.hold >= Decimal(96)


def test_the_price_card_says_that_the_page_is_being_read(
    priya: Membership, read_draft: Job, client_of: Browser
) -> None:
    """Until the service has answered, also after a stop."""
    browser, line = client_of(priya), "The page is being read"
    url = job_url(read_draft, "price")
    assert line not in get_page(browser, url, **HTMX)
    page_reading.request_page_read(read_draft, PAGE)
    assert line in get_page(browser, url, **HTMX)
    PageRead.objects.update(answer_due_at=timezone.now() + timedelta(seconds=9))
    actions.stop_reading(by=priya, job=read_draft)
    assert line in get_page(browser, url, **HTMX)
    PageRead.objects.update(answer_due_at=timezone.now())
    assert line not in get_page(browser, url, **HTMX)


def test_a_draft_of_another_type_has_no_page(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    assert browser.get(job_url(draft, "page-read")).status_code == 404
    assert browser.post(job_url(draft, "images")).status_code == 404


def test_only_those_who_render_change_the_page(
    vera: Membership, otto: Membership, read_draft: Job, client_of: Browser
) -> None:
    for name in ("page-read", "images"):
        statuses = [
            client_of(who).post(job_url(read_draft, name), {"url": PAGE}).status_code
            for who in (vera, otto)
        ]
        assert statuses == [403, 404]
    assert "Images of the page" in get_page(client_of(vera), step_url(read_draft, "source"))


def test_a_link_on_the_start_page_becomes_a_draft_whose_page_is_read(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post(
        "/studio/drafts/", {"start": PAGE, "type": "b-roll", "aspect_ratio": "16:9"}
    )
    row = PageRead.objects.get()
    assert answer.url == step_url(row.job, "source")
    assert (row.url, row.job.draft.settings["type"]) == (PAGE, "url-based")


def test_a_link_that_would_be_refused_makes_no_draft(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post("/studio/drafts/", {"start": "https://youtu.be/4k"})
    html = answer.content.decode()
    assert "The service does not read video and social sites." in html
    assert "https://youtu.be/4k" in html
    assert not Job.objects.exists()
