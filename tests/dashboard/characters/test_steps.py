"""The steps: photo, genre, preview, details. Each is saved; wrong input loses nothing."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.urls import reverse

from dashboard.characters.queries import preview_pool
from dashboard.models import AuditAction, AuditEvent, CharacterPhoto, Membership
from proxyapi import stored_files
from proxyapi.models import Charge, ChargeState, Draft, Job, StoredFile, Token
from proxyapi.models.charge import NEVER_CHARGED_CODE
from tests.dashboard.characters.conftest import DETAILS, Browser, add_charge, jpeg, upload


def step(job: Job, slug: str) -> str:
    return reverse("character-step", args=[job.pk, slug])


def test_a_photo_starts_a_character_and_who_confirmed_the_right_to_it_is_kept(
    luca: Membership, token: Token, client_of: Browser
) -> None:
    form = {"file": upload(), "rights": "on"}
    answer = client_of(luca).post(reverse("character-new"), form)
    job = Job.objects.get()
    assert answer.url == step(job, "genre")
    assert (job.state, job.title, job.remote_id) == ("draft", "maja-portrait", None)
    file, record = StoredFile.objects.get(), CharacterPhoto.objects.get()
    assert stored_files.read_stored_file(file).startswith(b"\xff\xd8\xff")
    assert (record.confirmed_by, record.sha256) == (luca.user, file.sha256)
    assert (record.width, record.height) == (640, 800)
    kept = AuditEvent.objects.get(action=AuditAction.CHARACTER_CREATE)
    assert kept.after["sha256"] == file.sha256 and kept.actor_name == str(luca.user)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "“portrait.jpg” is empty. Choose another file."),
        (b"MZ\x90\0", "This file is not a picture"),
        (b"<svg/>", "is not accepted"),
        (jpeg()[:500], "damaged or incomplete"),
        (b"\xff\xd8\xff" + b"\0" * (10 * 1024**2), "larger than 10 MB"),
        (jpeg(60, 70), "has 60 × 70 pixels"),
    ],
    ids=["empty", "a program", "svg", "cut off", "too large", "too small"],
)
def test_a_wrong_file_ends_in_a_sentence_and_nothing_is_stored(
    content: bytes, sentence: str, luca: Membership, token: Token, client_of: Browser
) -> None:
    form = {"file": upload(content, "portrait.jpg"), "rights": "on"}
    answer = client_of(luca).post(reverse("character-new"), form)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not Job.objects.exists() and not StoredFile.objects.exists()


def test_without_the_right_to_the_photo_nothing_is_kept(
    luca: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(luca).post(reverse("character-new"), {"file": upload()})
    assert "Confirm that you may use this photo." in answer.content.decode()
    assert not StoredFile.objects.exists()


def test_a_member_without_a_token_is_told_and_nothing_is_kept(
    luca: Membership, client_of: Browser
) -> None:
    page = client_of(luca).get(reverse("character-new")).content.decode()
    assert "You have no token." in page
    answer = client_of(luca).post(reverse("character-new"), {"file": upload(), "rights": "on"})
    assert "You have no token yet" in answer.content.decode()
    assert not Job.objects.exists()


def test_the_photo_is_shown_while_it_waits_and_may_be_replaced_until_it_was_sent(
    character: Job, luca: Membership, client_of: Browser
) -> None:
    browser = client_of(luca)
    picture = browser.get(reverse("character-photo", args=[character.pk]))
    assert picture["Content-Type"] == "image/jpeg" and picture["Cache-Control"].startswith(
        "private"
    )
    form = {"file": upload(jpeg(500, 500), "b.jpg"), "rights": "on"}
    assert browser.post(step(character, "photo"), form).status_code == 302
    assert CharacterPhoto.objects.get().name == "b.jpg" and StoredFile.objects.count() == 1
    Job.objects.update(remote_id="5200")
    form = {"file": upload(name="c.jpg"), "rights": "on"}
    answer = browser.post(step(character, "photo"), form)
    assert "The service already has the photo" in answer.content.decode()
    assert CharacterPhoto.objects.get().name == "b.jpg"


def test_choosing_a_genre_saves_it_and_requests_the_first_preview_which_is_free(
    character: Job, luca: Membership, client_of: Browser
) -> None:
    form = {"genre_id": "308", "go": "preview", "nonce": str(uuid.uuid4()), "price": "0"}
    browser = client_of(luca)
    for _ in range(2):  # pressed twice, or in two tabs
        assert browser.post(step(character, "genre"), form).url == step(character, "preview")
    charge = Charge.objects.get()
    assert (charge.operation, charge.body, charge.hold) == (
        "characters.preview",
        {"genre_id": 308},
        0,
    )
    page = browser.get(step(character, "preview")).content.decode()
    assert "Picture Book, round 1" in page and "One preview at a time" in page


def test_another_genre_than_those_of_characters_is_refused(
    character: Job, luca: Membership, client_of: Browser
) -> None:
    answer = client_of(luca).post(step(character, "genre"), {"genre_id": "941"})
    assert answer.status_code == 422
    assert "genre_id" not in Draft.objects.get().settings


def test_a_preview_with_a_price_is_asked_for_and_its_hold_covers_it(
    character: Job, luca: Membership, client_of: Browser
) -> None:
    account = character.account
    account.costs = {**account.costs, "CHARACTER_PREVIEW": {"credits": 3}}
    account.save(update_fields=["costs"])
    Draft.objects.update(settings={"genre_id": 308})
    browser, url = client_of(luca), reverse("character-previews", args=[character.pk])
    assert "≈ 3 cr" in browser.get(step(character, "preview")).content.decode()
    nonce = str(uuid.uuid4())
    free = browser.post(url, {"nonce": nonce, "price": "0"})
    assert "The price was 0 cr and is 3 cr now" in free.content.decode()
    assert browser.post(url, {"nonce": nonce, "price": "3"}).status_code == 302
    assert Charge.objects.get().hold >= Decimal(3)


def test_pictures_of_all_rounds_are_shown_and_one_is_chosen_as_it_is_pressed(
    previewed: Job, luca: Membership, client_of: Browser
) -> None:
    browser, part = client_of(luca), previewed.parts.get(remote_id="93002")
    answer = browser.post(
        reverse("character-choices", args=[previewed.pk]),
        {"picture": str(part.pk)},
        headers={"HX-Request": "true"},
    )
    page = answer.content.decode()
    assert "Picture 2, round 1" in page and "took 41 s" in page
    assert Draft.objects.get().settings["preview_id"] == 93002
    large = browser.get(reverse("character-picture", args=[previewed.pk, part.pk]))
    assert "Choose this picture" in large.content.decode()


def test_a_preview_without_an_answer_says_so_and_may_be_sent_again(
    previewed: Job, luca: Membership, client_of: Browser
) -> None:
    charge = add_charge(previewed, "characters.preview", ChargeState.UNKNOWN)
    browser = client_of(luca)
    page = browser.get(step(previewed, "preview")).content.decode()
    assert "No answer came" in page and "it is not sent again" in page
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.REFUSED, code=NEVER_CHARGED_CODE, lost_at=charge.sent_at
    )
    page = browser.get(step(previewed, "preview")).content.decode()
    assert "Nothing was charged. Preview again when you like." in page


def test_a_photo_that_the_service_refused_is_told_on_the_step_and_can_be_replaced(
    character: Job, luca: Membership, client_of: Browser
) -> None:
    Draft.objects.update(settings={"genre_id": 308})
    reason = "The service refused the photo: it shows no face. Nothing was charged."
    add_charge(character, "characters.preview", ChargeState.REFUSED, reason=reason)
    browser = client_of(luca)
    assert reason in browser.get(step(character, "preview")).content.decode()
    assert "Replace" in browser.get(step(character, "photo")).content.decode()


def test_without_previews_left_the_button_is_off_and_the_seconds_are_counted(
    previewed: Job, luca: Membership, client_of: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = preview_pool.PreviewPool(5, 0, 24)
    monkeypatch.setattr("dashboard.characters.queries.steps.load_preview_pool", lambda _: empty)
    page = client_of(luca).get(step(previewed, "preview")).content.decode()
    assert 'data-countdown="24"' in page and "0 of 5 left" in page


def test_what_is_to_do_is_marked_as_open_in_its_own_words(
    previewed: Job, luca: Membership, client_of: Browser
) -> None:
    html = client_of(luca).get(step(previewed, "genre")).content.decode().split('class="needs"')[1]
    assert "To do:</span>\nEnter name, age and gender" in html
    assert "Photo is chosen" in html and "Choose a photo" not in html
    assert 'data-state="late"' not in html.split("</ul>")[0]


def test_details_are_checked_and_kept(previewed: Job, luca: Membership, client_of: Browser) -> None:
    browser = client_of(luca)
    wrong = browser.post(step(previewed, "details"), {"name": "", "age": "0", "gender": "x"})
    page = wrong.content.decode()
    assert "Enter a name." in page and "The minimum is 1." in page
    assert browser.post(step(previewed, "details"), {**DETAILS, "go": "train"}).url == reverse(
        "character-training", args=[previewed.pk]
    )
    previewed.refresh_from_db()
    assert previewed.title == "Maja"
    assert Draft.objects.get().settings["age"] == 28


def test_genres_that_are_not_read_yet_are_awaited_and_a_failure_is_told(
    character: Job, luca: Membership, client_of: Browser
) -> None:
    row = character.account.character_genres
    row.genres, row.read_at = [], None
    row.save()
    browser = client_of(luca)
    assert "The genres are being read." in browser.get(step(character, "genre")).content.decode()
    type(row).objects.update(due_at=None, tried_at=row.account.created_at, message="It is away.")
    row.refresh_from_db()
    row.tried_at = None
    assert browser.get(step(character, "genre")).status_code == 200


def test_a_character_in_training_has_no_steps(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    add_charge(ready_to_train, "characters.train", ChargeState.HELD, sent_at=None)
    answer = client_of(luca).post(step(ready_to_train, "details"), {**DETAILS, "name": "Other"})
    assert answer.url == reverse("character", args=[ready_to_train.pk])
    assert Draft.objects.get().settings["name"] == "Maja"
