"""Buttons of videos for one reader, and those of a clip. They are never pushed, only fetched in the
reader's session."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from proxyapi.models import Job, JobKind, JobState

AGAIN_LABELS = {
    "completed": "Same again with changes",
    "failed": "Change and generate",
}


@dataclass(frozen=True, slots=True)
class ActionButton:
    """A button. With a `price` in credits it charges: about that much, or exactly that if `exact`.
    `dialog`: it opens a confirmation dialog. `disabled_reason` says why it is disabled. `post`: it
    acts at once, without a confirmation. `copy_text`: it is copied; without a clipboard `url` leads
    to it."""

    label: str
    url: str
    icon: str = ""
    kind: str = ""
    price: Decimal | None = None
    disabled: bool = False
    disabled_reason: str = ""
    dialog: bool = False
    exact: bool = False
    post: bool = False
    copy_text: str = ""


def clip_card_buttons(job: Job, state: str, reader: Membership) -> tuple[ActionButton, ...]:
    """Return the buttons of a clip's card."""
    buttons = []
    if has_permission(reader, Permission.RENDER) and (again := clip_again_button(job, state)):
        buttons.append(again)
    if state == "completed" and job.media_url:
        url = f"{reverse('video-media', args=[job.pk])}?download=1"
        buttons.append(ActionButton("Download", url, "arrow-down-tray"))
    return tuple(buttons)


def use_frame_button(job: Job) -> ActionButton | None:
    """Return the link to the composer that takes a frame of a finished clip; None without a
    film."""
    if job.kind != JobKind.CLIP or job.state != JobState.COMPLETED or not job.media_url:
        return None
    return ActionButton("Use as frame", f"{reverse('clips')}?frame={job.pk}", "photo")


def copy_prompt_button(job: Job) -> ActionButton | None:
    """Return the button that copies the prompt of a clip; None if it is not known here."""
    prompt = str(job.chosen_settings.get("prompt") or "") if job.kind == JobKind.CLIP else ""
    if not prompt:
        return None
    url = f"{reverse('video', args=[job.pk])}#prompt"
    return ActionButton("Copy prompt", url, "clipboard-document", copy_text=prompt)


def clip_again_button(job: Job, state: str) -> ActionButton | None:
    """Return the link to the composer, with the clip's settings or the draft itself; None while
    the clip is made, and for one that was not composed here."""
    if job.draft_or_none is None:
        return None
    if state == "draft":
        return ActionButton("Continue", f"{reverse('clips')}?draft={job.pk}", "pencil-square")
    if label := AGAIN_LABELS.get(state):
        return ActionButton(label, f"{reverse('clips')}?from={job.pk}")
    return None
