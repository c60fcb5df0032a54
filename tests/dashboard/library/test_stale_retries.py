"""A retry is of the failure that was shown: one that nobody saw is not paid for."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.models import Charge, ChargeState, Job, JobState
from tests.cases import each_case
from tests.dashboard.library.conftest import MakeVideoJob

HTMX = {"HX-Request": "true"}
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
SENTENCE = (
    "Not sent. This video has failed again since you opened the dialog. Nothing was charged. The "
    "latest failure is shown above."
)


def url(job: Job) -> str:
    return reverse("video-retries", args=[job.pk])


def fields(answer: Any) -> dict[str, str]:
    """What the dialog of an answer posts."""
    found = HIDDEN.findall(answer.content.decode())
    return {name: html.unescape(value) for name, value in found}


def failed_again(job: Job) -> None:
    """Its retry took what the render took, and the video failed once more."""
    now = timezone.now()
    retries = Charge.objects.filter(job=job, operation="faceless.retry")
    retries.update(state=ChargeState.CONFIRMED, cost=Decimal(96), sent_at=now, settled_at=now)
    Job.objects.filter(pk=job.pk).update(
        state=JobState.FAILED, finished_at=now, failure_message="The music could not be mixed."
    )


def test_an_old_question_pays_for_no_failure_that_nobody_saw(
    make_video_job: MakeVideoJob,
    add_settled_charge: Callable[..., Charge],
    priya: Membership,
    luca: Membership,
    client_of: Callable[[Membership], Any],
) -> None:
    """Both have the question open; Priya retries, it fails again, Luca presses at that price."""
    job, desk, other_desk = make_video_job("failed"), client_of(priya), client_of(luca)
    add_settled_charge(job)
    old = fields(other_desk.get(url(job), headers=HTMX))
    desk.post(url(job), fields(desk.get(url(job), headers=HTMX)))
    failed_again(job)
    answer = other_desk.post(url(job), old, headers=HTMX)
    assert Charge.objects.filter(job=job, operation="faceless.retry").count() == 1
    assert SENTENCE in answer.content.decode()
    assert "The music could not be mixed." in answer.content.decode()
    anew = fields(answer)
    assert (anew["price"], anew["nonce"]) == (old["price"], old["nonce"])
    assert other_desk.post(url(job), anew).status_code == 302
    assert Charge.objects.filter(job=job, operation="faceless.retry").count() == 2


@each_case("failed_at", [None, "", "then", "\0", "2026-11-21", "None", "9" * 5000, "😀"])
def test_a_question_of_no_failure_is_drawn_again(
    failed_at: str | None,
    make_video_job: MakeVideoJob,
    add_settled_charge: Callable[..., Charge],
    priya: Membership,
    client_of: Callable[[Membership], Any],
) -> None:
    job = make_video_job("failed")
    add_settled_charge(job)
    form = {"nonce": str(uuid.uuid4()), "price": "96"}
    if failed_at is not None:
        form["failed_at"] = failed_at
    answer = client_of(priya).post(url(job), form)
    assert answer.status_code == 422
    assert SENTENCE in answer.content.decode()
    assert not Charge.objects.filter(operation="faceless.retry").exists()
