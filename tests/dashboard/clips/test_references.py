"""Reference frames: kept encrypted with the draft, sent with the clip, kept for another model."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from PIL import Image

from dashboard.library.queries.video_page import load_video_page
from dashboard.models import Membership
from proxyapi.kinds import clip_body
from proxyapi.models import Charge, Draft, Job, JobKind, JobState, StoredFile, Token, Upload
from tests.dashboard.clips.conftest import (
    HTMX,
    PROMPT,
    SETTINGS,
    Browser,
    form_of,
    make_clip_draft,
    save,
)
from tests.dashboard.clips.test_composer import PAGE, text_of
from tests.dashboard.clips.test_generation import confirm
from tests.factories import JobFactory


def picture(kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (32, 18), (40, 90, 120)).save(buffer, kind)
    return buffer.getvalue()


def upload(content: bytes, name: str = "holiday in Lisbon.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "image/png")


def add_frame(browser: Any, job: Job, content: bytes | None = None) -> str:
    data = form_of(job, **{"file-first_frame": upload(picture() if content is None else content)})
    html = text_of(save(browser, data, **HTMX))
    job.draft.refresh_from_db()
    return html


@pytest.fixture
def film(token: Token) -> Job:
    return JobFactory.create(
        account=token.account,
        token=token,
        kind=JobKind.CLIP,
        state=JobState.COMPLETED,
        remote_id="91",
        title="Aurora over a silent ridge",
        media_url="https://media.example/aurora.mp4",
    )


def test_an_uploaded_frame_is_stored_encrypted_and_shown_and_keeps_the_price(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    html = add_frame(client_of(priya), priced)
    file = StoredFile.objects.get(job=priced)
    assert (file.name, file.content_type) == ("first_frame.png", "image/png")
    assert picture() not in bytes(file.ciphertext)
    url = reverse("clip-reference", args=[priced.pk, "first_frame"])
    assert f'src="{url}"' in html
    assert client_of(priya).get(url).content.startswith(b"\x89PNG")
    assert priced.draft.has_current_estimate


def test_the_frame_goes_with_the_clip_as_a_file(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    add_frame(client_of(priya), priced)
    confirm(client_of(priya), priced)
    sent = Upload.objects.get(charge=Charge.objects.get())
    assert (sent.field, sent.name, sent.content_type) == (
        "first_frame",
        "first_frame.png",
        "image/png",
    )
    assert bytes(sent.content).startswith(b"\x89PNG")
    assert "first_frame" not in sent.charge.body


def test_another_file_takes_the_place_of_the_first(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    add_frame(client_of(priya), priced)
    add_frame(client_of(priya), priced, picture("JPEG"))
    assert [file.name for file in StoredFile.objects.filter(job=priced)] == ["first_frame.jpg"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "“holiday in Lisbon.png” is empty. Choose another file."),
        (b"not a picture at all", "This file is not a picture or film"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG files can contain scripts"),
        (picture("GIF"), "Choose a PNG, JPG or WebP picture for this."),
    ],
)
def test_a_file_of_another_sort_is_refused_at_its_slot(
    content: bytes, sentence: str, priya: Membership, priced: Job, client_of: Browser
) -> None:
    html = add_frame(client_of(priya), priced, content)
    assert sentence in html
    assert 'id="slot-first_frame-error"' in html
    assert not StoredFile.objects.exists()


def test_a_frame_is_kept_for_a_model_that_takes_it(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    client = client_of(priya)
    add_frame(client, priced)
    save(client, form_of(priced, model="marlow-02"), **HTMX)
    priced.draft.refresh_from_db()
    assert "first_frame" not in priced.draft.settings
    save(client, form_of(priced, model="brook"), **HTMX)
    priced.draft.refresh_from_db()
    assert "file" in priced.draft.settings["first_frame"]


def test_a_frame_is_removed(priya: Membership, priced: Job, client_of: Browser) -> None:
    add_frame(client_of(priya), priced)
    save(client_of(priya), form_of(priced, removal="first_frame"), **HTMX)
    priced.draft.refresh_from_db()
    assert "first_frame" not in priced.draft.settings


def test_a_film_of_the_team_is_sent_by_its_address_and_asks_for_a_new_price(
    priya: Membership, token: Token, film: Job, client_of: Browser
) -> None:
    job = make_clip_draft(token, {**SETTINGS, "model": "brook", "duration": 5}, Decimal(33))
    save(client_of(priya), form_of(job, **{"use-first_frame": str(film.pk)}), **HTMX)
    draft = Draft.objects.get(pk=job.pk)
    assert draft.settings["first_frame"]["address"] == film.media_url
    assert draft.quote_due_at is not None
    assert "From “Aurora over a silent ridge”" in text_of(client_of(priya).get(PAGE))


def test_a_frame_names_the_clip_that_it_was_drawn_from_and_is_sent_as_a_file(
    priya: Membership, priced: Job, film: Job, client_of: Browser
) -> None:
    origin = {"from-first_frame": str(film.pk), "frame-first_frame": "last"}
    data = form_of(priced, **{"file-first_frame": upload(picture()), **origin})
    html = text_of(save(client_of(priya), data, **HTMX))
    assert "Last frame of “Aurora over a silent ridge”" in html
    priced.draft.refresh_from_db()
    assert priced.draft.has_current_estimate
    assert clip_body(priced.draft.settings) == SETTINGS
    confirm(client_of(priya), priced)
    assert Upload.objects.get(charge=Charge.objects.get()).field == "first_frame"
    page = load_video_page(priced)
    (setting,) = [fact for fact in page.facts if fact.label == "First frame"]
    assert setting.url == reverse("video", args=[film.pk])


def test_a_film_of_another_team_does_not_exist(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    foreign = JobFactory.create(
        state=JobState.COMPLETED, remote_id="7", media_url="https://media.example/7.mp4"
    )
    for prefix in ("use", "from"):
        data = form_of(priced, **{f"{prefix}-first_frame": str(foreign.pk)})
        assert save(client_of(priya), data, **HTMX).status_code == 404


def test_the_same_again_takes_the_files_along(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    add_frame(client_of(priya), priced)
    Job.objects.filter(pk=priced.pk).update(state=JobState.COMPLETED, remote_id="88")
    html = text_of(client_of(priya).get(f"{PAGE}?from={priced.pk}"))
    assert reverse("clip-reference", args=[priced.pk, "first_frame"]) in html
    new_id = html.split('name="draft" value="')[1][:36]
    data = {**form_of(priced), "draft": new_id, "edited_at": "", "source": str(priced.pk)}
    save(client_of(priya), data, **HTMX)
    copy = Job.objects.select_related("draft").get(pk=new_id)
    assert copy.draft.settings["prompt"] == PROMPT
    assert copy.stored_files.count() == priced.stored_files.count() == 1


def test_a_frame_that_is_no_longer_kept_is_named_before_anything_is_sent(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    add_frame(client_of(priya), priced)
    StoredFile.objects.all().delete()
    html = text_of(confirm(client_of(priya), priced))
    assert "The file of the first frame is no longer kept here. Add it again." in html
    assert not Charge.objects.exists()


def test_the_dialog_lists_finished_clips(priya: Membership, film: Job, client_of: Browser) -> None:
    url = f"{reverse('clip-frames')}?slot=first_frame"
    html = text_of(client_of(priya).get(url, headers=HTMX))
    assert "Aurora over a silent ridge" in html
    assert "Use last frame" in html
    assert "<html" in text_of(client_of(priya).get(url))
