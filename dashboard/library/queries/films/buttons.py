"""The buttons of a film for a reader who may render."""

from __future__ import annotations

from decimal import Decimal

from django.urls import reverse

from dashboard.shared.action_buttons import ActionButton
from dashboard.shared.storyboards.copies import storyboard_url
from proxyapi.models import Job, TokenState
from proxyapi.operations import JOB_STARTING_OPERATIONS

TOKEN_UNUSABLE_TEXT = "The token it was made with no longer works."  # noqa: S105  # a sentence


def film_buttons(job: Job, state: str = "") -> list[ActionButton]:
    """None for what is no film of a storyboard that was made here.

    The service takes no change of a finished film: the next one is made in the editor, which
    says what it costs. A failed one is rendered again, as long as it is the current copy."""
    editor_url = storyboard_url(job)
    if not editor_url:
        return []
    buttons = [ActionButton("Open storyboard", editor_url, "rectangle-stack", "fold")]
    board = job.storyboard_copy.storyboard
    if state == "failed" and board.copy_id == job.pk:
        buttons.append(render_again_button(job, reverse("storyboard-render", args=[board.pk])))
    return buttons


def render_again_button(job: Job, url: str) -> ActionButton:
    """Its price is what the last render cost; the question asks the service for the exact one."""
    problem = job.account.pause_reason
    if job.token.state != TokenState.WORKING:
        problem = TOKEN_UNUSABLE_TEXT
    return ActionButton(
        "Render again",
        url,
        "arrow-path",
        "primary",
        price=last_render_cost(job),
        disabled=bool(problem),
        disabled_reason=problem,
        dialog=True,
    )


def last_render_cost(job: Job) -> Decimal | None:
    """Return the credits of the last render, or its estimate if none was charged."""
    renders = [
        charge
        for charge in job.charges.all()
        if charge.operation in JOB_STARTING_OPERATIONS and charge.is_charged
    ]
    draft = job.draft_or_none
    return renders[-1].cost if renders else draft.estimate if draft else None
