"""Own media: each check before it is sent, and what is kept until the charge is settled."""

from __future__ import annotations

import io
import re
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from dashboard.shared.uploads import media_files
from proxyapi.models import Account, Charge, Upload
from tests.contract.staging import png

FRAGMENT = {"HX-Request": "true"}


def send(client, job, **form):
    given = {"nonce": str(uuid.uuid4()), "source": "file", "rights": "on", **form}
    return client.post(f"/videos/{job.pk}/own-media/", given, headers=FRAGMENT)


def file(content, name="photo.png"):
    return SimpleUploadedFile(name, content, "image/png")


def test_a_picture_waits_with_its_charge_under_a_name_of_ours(job, priya, client_of):
    answer = send(client_of(priya), job, file=file(png(), "Anna's house, 12 May.png"))
    assert answer.headers["HX-Redirect"].endswith("/scenes/")
    charge, upload = Charge.objects.get(), Upload.objects.get()
    assert (charge.operation, charge.hold, charge.body) == ("ai_visuals.upload", 0, {})
    assert (upload.field, upload.name, upload.content_type) == (
        "file", "own-media.png", "image/png",
    )  # fmt: skip


def test_it_needs_no_credits(job, priya, client_of):
    Account.objects.update(balance=0)
    send(client_of(priya), job, file=file(png()))
    assert Charge.objects.exists()


def test_an_address_is_sent_as_it_is(job, priya, client_of):
    send(client_of(priya), job, source="address", address="https://a.example/x.png")
    assert Charge.objects.get().body == {"url": "https://a.example/x.png"}
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, "Choose a file, or use an address."),
        ({"file": file(b"MZ\x90\0")}, "not a picture or film, whatever its name says"),
        ({"file": file(b"<svg onload='x'/>", "x.svg")}, "SVG files can contain scripts"),
        ({"file": file(b"")}, media_files.EMPTY_FILE),
        ({"source": "address"}, "Enter the address of the picture or film."),
        ({"source": "address", "address": "http://[::1]/"}, "only reachable inside a network"),
        ({"source": "address", "address": "x" * 3000}, "At most 2048 characters"),
        ({"file": file(png()), "rights": ""}, "Confirm that you may use it."),
        ({"file": file(png()), "nonce": ""}, "the form key in this form is missing"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(form, said, job, priya, client_of):
    page = send(client_of(priya), job, **form).content.decode()
    assert said in page
    assert not Charge.objects.exists()
    assert re.search(r'name="nonce" value="[\da-f-]{36}"', page)


def test_a_file_of_21_mb_is_refused(job, priya, client_of):
    large = io.BytesIO(png() + b"\0" * (21 * 1024**2))
    large.name = "large.png"
    assert "larger than 20 MB" in send(client_of(priya), job, file=large).content.decode()
    assert not Upload.objects.exists()


def test_the_same_form_twice_is_one_upload(job, priya, client_of):
    nonce = str(uuid.uuid4())
    for _ in range(2):
        send(client_of(priya), job, nonce=nonce, file=file(png()))
    assert (Charge.objects.count(), Upload.objects.count()) == (1, 1)


def test_the_page_knows_which_files_arrived(job, priya, client_of):
    """A page that was closed before the answer asks for it."""
    browser, nonces = client_of(priya), [str(uuid.uuid4()) for _ in range(2)]
    for nonce in nonces:
        send(browser, job, nonce=nonce, file=file(png()))
        Charge.objects.update(
            state="confirmed", cost=0, sent_at=timezone.now(), applied_at=timezone.now()
        )
    page = browser.get(f"/videos/{job.pk}/scenes/").content.decode()
    assert f'data-received-uploads="{" ".join(nonces)}"' in page


def test_without_scripts_the_dialog_is_a_page(job, priya, client_of):
    page = client_of(priya).get(f"/videos/{job.pk}/own-media/").content.decode()
    assert 'enctype="multipart/form-data"' in page
    assert "<h1>" in page


def test_what_the_service_refuses_is_shown_in_its_words(job, add_settled_charge, priya, client_of):
    """Such as an address that leads to loopback: the service fetches it, so it notices."""
    words = "“This address could not be reached.”"
    given = {"operation": "ai_visuals.upload", "state": "refused", "reason": words}
    add_settled_charge(job, 0, **given, sent_at=timezone.now())
    page = client_of(priya).get(f"/videos/{job.pk}/scenes/").content.decode()
    assert words in page
    assert "Nothing was charged." in page
