"""The page of a clip in the library: prompt, model, settings, price, references and the refund."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.library.queries.video_page import load_video_page
from dashboard.models import Membership
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.operations import REFUNDABLE_OPERATIONS
from tests.dashboard.clips.conftest import PROMPT, SETTINGS, Browser, make_clip_draft
from tests.dashboard.clips.test_composer import PAGE, text_of
from tests.factories import ChargeFactory


@pytest.fixture
def clip(priced: Job) -> Job:
    """A clip of 8 s with Kestrel Voice that cost the 33 credits of its quote."""
    now = timezone.now()
    ChargeFactory.create(
        job=priced,
        operation=REFUNDABLE_OPERATIONS[0],
        state=ChargeState.CONFIRMED,
        quote=Decimal(33),
        cost=Decimal(33),
        sent_at=now,
    )
    Job.objects.filter(pk=priced.pk).update(
        state=JobState.COMPLETED,
        remote_id="88",
        started_at=now - timedelta(seconds=80),
        finished_at=now,
        media_url="https://media.example/boat.mp4",
    )
    return Job.objects.get(pk=priced.pk)


def page_of(clip: Job, reader: Membership, client_of: Browser) -> str:
    return text_of(client_of(reader).get(reverse("video", args=[clip.pk])))


def facts_of(job: Job) -> dict[str, str]:
    return {fact.label: fact.value for fact in load_video_page(job).facts}


def test_it_shows_the_prompt_the_model_each_option_and_the_exact_price(
    priya: Membership, clip: Job, client_of: Browser
) -> None:
    page = load_video_page(clip)
    assert page.note.startswith("Kestrel Voice, 8 s, 16:9, 720p, with sound. Made by Priya today.")
    assert (page.script["label"], page.script["text"], page.script["note"]) == (
        "Prompt",
        PROMPT,
        "10 words",
    )
    assert facts_of(clip) == {
        "Type": "Text to video",
        "Model": "Kestrel Voice",
        "Duration": "8 s",
        "Aspect ratio": "16:9",
        "Resolution": "720p",
        "Sound": "With sound",
        "Price paid": "33 cr, as quoted",
    }
    html = page_of(clip, priya, client_of)
    assert 'id="prompt"' in html
    assert f'data-copy="{PROMPT}"' in html
    assert reverse("video-media", args=[clip.pk]) in html


def test_it_offers_download_the_same_again_and_a_frame(
    priya: Membership, vera: Membership, clip: Job, client_of: Browser
) -> None:
    html = page_of(clip, priya, client_of)
    assert f'href="{PAGE}?from={clip.pk}"' in html
    assert "Same again with changes" in html
    assert "?download=1" in html
    menu = reverse("video-menu", args=[clip.pk])
    assert f'href="{menu}"' in html
    assert f'href="{PAGE}?frame={clip.pk}"' in client_of(priya).get(menu).content.decode()
    html = page_of(clip, vera, client_of)
    assert "?download=1" in html
    assert f"{PAGE}?f" not in html
    assert menu not in html


def test_a_reference_leads_to_the_clip_that_it_is_from(
    priya: Membership, clip: Job, client_of: Browser
) -> None:
    source = make_clip_draft(clip.token, SETTINGS)
    clip.draft.settings = {
        **SETTINGS,
        "first_frame": {"file": "1", "name": "first_frame.png"},
        "last_frame": {"address": "https://media.example/end.png"},
        "video": {"address": "https://media.example/a.mp4", "job": str(source.pk), "title": "Ice"},
    }
    clip.draft.save()
    facts = facts_of(clip)
    assert (facts["First frame"], facts["Last frame"]) == ("Own file", "By address")
    assert facts["Video"] == "From “Ice”"
    url = reverse("video", args=[source.pk])
    assert f'<a class="link" href="{url}"><bdi>From “Ice”</bdi></a>' in page_of(
        clip, priya, client_of
    )


@pytest.mark.parametrize(
    ("charge", "text"),
    [
        ({"cost": Decimal(34)}, "34 cr, quoted 33 cr"),
        ({"cost": Decimal("33.5"), "quote": None}, "33.5 cr"),
        ({"refunded_at": timezone.now()}, "33 cr, as quoted, refunded"),
    ],
)
def test_the_price_paid_is_what_was_booked(charge: dict[str, Any], text: str, clip: Job) -> None:
    Charge.objects.update(**charge)
    assert facts_of(clip)["Price paid"].startswith(text)


def test_a_refund_that_is_owed_has_its_age(
    priya: Membership, clip: Job, client_of: Browser
) -> None:
    failed_at = timezone.now() - timedelta(minutes=6)
    Job.objects.filter(pk=clip.pk).update(
        state=JobState.FAILED, failure_message="Provider timed out.", media_url=""
    )
    Charge.objects.update(refund_owed_at=failed_at)
    page = load_video_page(clip)
    owed = "the service owes them back, not seen in the ledger yet, 6 min"
    assert page.status_detail == f"“Provider timed out.” 33 cr were charged; {owed}."
    assert page.heading == "Clip"
    assert page.history_steps[-1].note == "Refund owed 33 cr, not seen in the ledger yet, 6 min."
    html = page_of(clip, priya, client_of)
    assert "Change and generate" in html


def test_a_clip_that_was_not_composed_here_has_neither_prompt_nor_settings(
    priya: Membership, clip: Job, client_of: Browser
) -> None:
    clip.draft.delete()
    assert facts_of(clip) == {"Type": "Text to video", "Price paid": "33 cr, as quoted"}
    html = page_of(clip, priya, client_of)
    assert 'id="prompt"' not in html
    assert "?from=" not in html
