"""The training: priced, sent once, told in every state; and what a trained character is for."""

from __future__ import annotations

import uuid
from typing import Any

from django.urls import reverse

from dashboard.models import Membership
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState
from tests.dashboard.characters.conftest import Browser, add_charge, set_state
from tests.factories import JobFactory

OPTION = {"id": 5200, "uuid": "6f1c-maja", "name": "Maja", "gender": "female", "status": "ready"}


def form(job: Job, price: str = "10", **more: str) -> dict[str, str]:
    edited_at = Draft.objects.get(pk=job.pk).edited_at.isoformat()
    return {"nonce": str(uuid.uuid4()), "price": price, "edited_at": edited_at, **more}


def training_url(job: Job) -> str:
    return reverse("character-training", args=[job.pk])


def page_of(job: Job, browser: Any) -> str:
    return browser.get(reverse("character", args=[job.pk])).content.decode()


def test_a_training_is_asked_for_and_held_at_its_price(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    browser, url = client_of(luca), training_url(ready_to_train)
    question = browser.get(url).content.decode()
    assert "Train “<bdi>Maja</bdi>”?" in question and "10 cr" in question
    sent = form(ready_to_train)
    for _ in range(2):  # pressed twice
        answer = browser.post(url, sent)
        assert answer.url == reverse("character", args=[ready_to_train.pk])
    charge = Charge.objects.get(operation="characters.train")
    assert (charge.hold, charge.body["preview_id"], charge.body["name"]) == (10, 93001, "Maja")


def test_a_character_that_was_changed_in_another_tab_is_not_trained(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    old, browser = form(ready_to_train), client_of(luca)
    part = ready_to_train.parts.get(remote_id="93002")
    browser.post(reverse("character-choices", args=[ready_to_train.pk]), {"picture": str(part.pk)})
    answer = browser.post(training_url(ready_to_train), old)
    assert "changed meanwhile. Nothing was sent" in answer.content.decode()
    assert not Charge.objects.filter(operation="characters.train").exists()


def test_nothing_is_sent_before_a_picture_and_the_details_are_chosen(
    previewed: Job, luca: Membership, client_of: Browser
) -> None:
    answer = client_of(luca).post(training_url(previewed), form(previewed))
    assert "Choose a picture first. Nothing was sent." in answer.content.decode()
    assert not Charge.objects.filter(operation="characters.train").exists()


def test_a_training_is_told_while_it_runs(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    add_charge(ready_to_train, "characters.train", ChargeState.CONFIRMED, cost=10)
    set_state(ready_to_train, JobState.RUNNING, raw_status="training")
    page = page_of(ready_to_train, client_of(luca))
    assert "Maja is being trained" in page and "You can leave this page" in page
    assert "Confirmed by Luca Moretti" in page
    gallery = client_of(luca).get(reverse("characters")).content.decode()
    assert "Training" in gallery and "female, 28" in gallery


def test_a_word_that_nobody_knows_is_shown_as_it_is(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    set_state(ready_to_train, JobState.RUNNING, raw_status="warming up")
    assert "In progress: warming up" in page_of(ready_to_train, client_of(luca))


def test_a_failed_training_says_what_it_cost_and_offers_another_at_its_price(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    add_charge(ready_to_train, "characters.train", ChargeState.CONFIRMED, cost=10)
    set_state(ready_to_train, JobState.FAILED, failure_message="Face not clear.")
    browser = client_of(luca)
    page = page_of(ready_to_train, browser)
    said = "“Face not clear.” 10 cr were charged. The service promises no refund."
    assert said in page and said in browser.get(reverse("characters")).content.decode()
    assert "Train again" in page and "Choose another picture" in page
    assert browser.post(training_url(ready_to_train), form(ready_to_train)).status_code == 302
    assert Charge.objects.filter(operation="characters.train").count() == 2


def test_a_lost_answer_to_a_training_is_unknown_and_is_not_sent_again(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    price = {"quote": 10, "hold": 10}
    add_charge(ready_to_train, "characters.train", ChargeState.UNKNOWN, **price)
    browser = client_of(luca)
    page = page_of(ready_to_train, browser)
    assert "We do not know whether 10 cr were spent" in page
    assert "It will not be sent again" in page
    gallery = browser.get(reverse("characters")).content.decode()
    assert "Unknown" in gallery and "0 or 10" in gallery
    answer = browser.post(training_url(ready_to_train), form(ready_to_train))
    assert "Nothing was sent twice" in answer.content.decode()


def test_a_ready_character_is_offered_for_a_video_by_its_uuid(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    set_state(ready_to_train, JobState.COMPLETED, raw_status="ready")
    browser, account = client_of(luca), ready_to_train.account
    assert "is read again; then it is offered" in page_of(ready_to_train, browser)
    account.options = {"optional": {"characters": [OPTION]}}
    account.save(update_fields=["options"])
    page = page_of(ready_to_train, browser)
    assert "Make a video" in page and 'value="6f1c-maja"' in page
    answer = browser.post(reverse("drafts"), {"flow": "ai-visuals", "character_id": OPTION["uuid"]})
    draft = Draft.objects.exclude(pk=ready_to_train.pk).get()
    assert answer.url.startswith(f"/studio/{draft.pk}/")
    assert draft.settings["character_id"] == "6f1c-maja"
    other = browser.post(reverse("drafts"), {"flow": "ai-visuals", "character_id": "elsewhere"})
    assert "does not offer this character" in other.content.decode()


def test_videos_with_a_character_are_counted_without_drafts(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    account = ready_to_train.account
    account.options = {"optional": {"characters": [OPTION]}}
    account.save(update_fields=["options"])
    set_state(ready_to_train, JobState.COMPLETED, raw_status="ready")
    same: dict[str, Any] = {"account": account, "token": ready_to_train.token}
    chosen = {"type": "ai-visuals", "character_id": OPTION["uuid"]}
    JobFactory.create(**same, state="completed", remote_id="1", draft__settings=chosen)
    JobFactory.create(**same, draft__settings=chosen)
    assert "used in 1" in client_of(luca).get(reverse("characters")).content.decode()
