"""What tests of storyboards against the sandbox have in common."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from proxyapi.charges import ChargeIntent, dispatch_charge
from proxyapi.kinds.storyboard_sync import sync_copy
from proxyapi.models import Charge, Job, Storyboard
from proxyapi.polling.part_reads import fetch_parts
from proxyapi.rate_limiter import Priority
from tests.admission import admit_charge
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.storyboards import place

PROMPTS = ("A boat leaves the harbour", "It meets a storm", "The harbour again")
SETTINGS = {"rate_limit": 1000, "storyboard_charged": "at_clips", "clip_seconds": 20}
SCENES_PATH = "/v2/text-to-scene/*/scenes"


def load_copy(job: Job) -> Job:
    return Job.objects.select_related("draft", "token__account", "account").get(pk=job.pk)


def sync(board: Storyboard) -> Job:
    """Send what the storyboard has that its copy does not."""
    job = place(board)
    sync_copy(job, Priority.PERSON, 0.0)
    return load_copy(job)


def shown_scenes(stage: SandboxAccount, job: Job) -> list[dict[str, Any]]:
    record = stage.response_data("GET", f"/text-to-scene/{load_copy(job).remote_id}")
    return list(record["scenes"])


def shown_prompts(stage: SandboxAccount, job: Job) -> list[str]:
    return [scene["raw_video_prompt"] for scene in shown_scenes(stage, job)]


def writes(stage: SandboxAccount) -> list[str]:
    """What was sent to the service, as the end of each path."""
    lines = stage.control.get("journal").json()
    return [line["path"].rsplit("/", 1)[-1] for line in lines if line["method"] != "GET"]


def clips_charge(job: Job, *scenes: object, credits: int = 100) -> Charge:
    body = {"scenes": [str(scene) for scene in scenes]}
    return charge_of(job, "text_to_scene.clips", credits, body)


def charge_of(
    job: Job, operation: str, credits: Decimal | int, body: dict[str, Any] | None = None
) -> Charge:
    amount = Decimal(credits)
    return admit_charge(ChargeIntent(job, operation, uuid.uuid4(), amount, amount, body or {}))


def send(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def finish_clips(sandbox: InProcessSandbox, job: Job) -> None:
    sandbox.clock.advance(600)
    with sandbox.frozen():
        fetch_parts(load_copy(job))
