"""The buttons of a video for one reader: hidden, disabled with a reason, or priced.

This is the only part that depends on the reader: it is never pushed, only fetched in their session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.urls import reverse
from django.utils import timezone

from dashboard.library.queries.films.buttons import film_buttons
from dashboard.models import ApprovalRequest, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.action_buttons import (
    ActionButton,
    clip_again_button,
    clip_card_buttons,
    copy_prompt_button,
    use_frame_button,
)
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cards import is_retryable
from dashboard.shared.videos.charge_status import is_long_unknown
from dashboard.shared.videos.labels import is_made_in_studio
from dashboard.shared.videos.parts import EXPORT, listed_price
from proxyapi import pricing
from proxyapi.models import Charge, ChargeState, Job, JobKind, TokenState

UNUSABLE_TOKEN_STATES = (TokenState.REVOKED, TokenState.REMOVED)
NO_EXPORT_PRICE_TEXT = "The service’s price list has no price for an export."
ACCOUNT_UNUSABLE_TEXT = "The token it was made with no longer works."


def video_card_actions(
    job: Job, charges: Sequence[Charge], state: str, reader: Membership
) -> tuple[ActionButton, ...]:
    """Return the few buttons of a card."""
    if not has_permission(reader, Permission.RENDER):
        return ()
    if job.hidden_at is not None:
        url = reverse("video-restorations", args=[job.pk])
        return (ActionButton("Show again", url, "eye", post=True),)
    if job.kind == JobKind.CLIP:
        return clip_card_buttons(job, state, reader)
    if is_retryable(job, state):
        return (retry_button(job),)
    return (edit_button(job),) if state == "draft" and is_made_in_studio(job) else ()


def video_page_actions(
    job: Job, charges: Sequence[Charge], state: str, reader: Membership
) -> tuple[ActionButton, ...]:
    """Return the buttons in the header of the video's page; at most one is primary."""
    buttons = approval_actions(charges, reader)
    if state == "completed" and job.media_url:
        url = f"{reverse('video-media', args=[job.pk])}?download=1"
        kind = "fold" if any(button.kind == "primary" for button in buttons) else "primary"
        buttons.insert(0, ActionButton("Download", url, "arrow-down-tray", kind))
    if has_permission(reader, Permission.RECHECK) and needs_manual_check(job, charges, state):
        url = reverse("video-checks", args=[job.pk])
        buttons.append(ActionButton("Check again", url, "eye", post=True))
    if has_permission(reader, Permission.RENDER):
        if is_retryable(job, state):
            buttons.append(retry_button(job, kind="primary"))
        elif state == "draft" and is_made_in_studio(job):
            buttons.append(edit_button(job, kind="primary"))
        elif state == "completed" and job.kind == JobKind.FACELESS:
            buttons.append(export_button(job))
        elif job.kind == JobKind.STORYBOARD:
            buttons[:0] = film_buttons(job, state)
        elif job.kind == JobKind.CLIP and (again := clip_again_button(job, state)):
            buttons.append(again if state == "completed" else replace(again, kind="primary"))
        elif (
            state == "paused"
            and job.token.state in UNUSABLE_TOKEN_STATES
            and job.member_id == reader.user_id
        ):
            buttons.append(ActionButton("Add a new token", reverse("tokens"), "key", "primary"))
        menu = video_menu_actions(job)
        buttons += [replace(button, kind="fold") for button in menu if button.post]
        menu_url = reverse("video-menu", args=[job.pk])
        buttons.append(ActionButton("More", menu_url, "ellipsis-horizontal", dialog=True))
    return tuple(buttons)


def video_menu_actions(job: Job) -> list[ActionButton]:
    """Return what can be done with every video, for a reader who may create videos."""
    labels_url = f"{reverse('selection-labels')}?video={job.pk}"
    buttons = [
        ActionButton("Labels", labels_url, "tag", dialog=True),
        ActionButton(
            "Hide from the library", reverse("video-hide", args=[job.pk]), "eye-slash", dialog=True
        ),
    ]
    if job.kind == JobKind.CLIP and job.chosen_settings.get("prompt"):
        url = reverse("storyboard-additions", args=[job.pk])
        buttons.insert(0, ActionButton("Add to a storyboard", url, "film", dialog=True))
    if not is_made_in_studio(job):
        return [*filter(None, (use_frame_button(job), copy_prompt_button(job))), *buttons]
    copy_url, preset_url = (
        reverse(name, args=[job.pk]) for name in ("studio-copies", "preset-new")
    )
    return [
        ActionButton("New from this", copy_url, "document-duplicate", post=True),
        versions_button(job),
        ActionButton("Save as preset", preset_url, "bookmark", dialog=True),
        *buttons,
    ]


def versions_button(job: Job) -> ActionButton:
    """Make versions, or compare those that there are."""
    if version := getattr(job, "version", None):
        url = reverse("video-versions", args=[version.group_id])
        return ActionButton("Compare versions", url, "squares-2x2")
    return ActionButton(
        "Make versions", reverse("studio-versions", args=[job.pk]), "squares-plus", dialog=True
    )


def needs_manual_check(job: Job, charges: Sequence[Charge], state: str) -> bool:
    """True if polling or reconciliation is stopped or slow, or the last poll failed."""
    if job.token.state != TokenState.WORKING or job.account.pause_reason:
        return False
    if state in ("running", "late"):
        return state == "late" or job.is_polling_stopped or bool(job.poll_error)
    return state == "unknown" and any(is_long_unknown(charge, timezone.now()) for charge in charges)


def approval_actions(charges: Sequence[Charge], reader: Membership) -> list[ActionButton]:
    """Return the buttons for a charge that waits for approval; one query if there is one."""
    drafts = [charge for charge in charges if charge.state == ChargeState.DRAFT]
    approval = (
        ApprovalRequest.objects.pending().filter(charge__in=drafts).first() if drafts else None
    )
    if approval is None:
        return []
    mine = approval.member_id == reader.user_id
    may_decide = not mine and has_permission(reader, Permission.MANAGE_MONEY)
    buttons = []
    if mine or may_decide:
        url = reverse("approval-request", args=[approval.pk])
        buttons.append(ActionButton("View request", url, "chat-bubble-left-right", "quiet"))
    if may_decide:
        approve_url, decline_url = (
            reverse(f"approval-request-{name}", args=[approval.pk])
            for name in ("approvals", "refusals")
        )
        buttons.append(ActionButton("Decline", decline_url, "x-mark", "quiet", dialog=True))
        price = drafts[-1].hold
        buttons.append(
            ActionButton("Approve", approve_url, "check", "primary", price, dialog=True, exact=True)
        )
    if mine:
        withdraw_url = reverse("approval-request-withdrawals", args=[approval.pk])
        buttons.append(
            ActionButton("Withdraw request", withdraw_url, "arrow-uturn-left", dialog=True)
        )
    return buttons


def retry_button(job: Job, kind: str = "") -> ActionButton:
    disabled_reason = job.account.pause_reason
    if job.token.state != TokenState.WORKING:
        disabled_reason = ACCOUNT_UNUSABLE_TEXT
    return ActionButton(
        label="Retry",
        url=reverse("video-retries", args=[job.pk]),
        icon="arrow-path",
        kind=kind,
        price=pricing.estimate_retry_price(job),
        disabled=bool(disabled_reason),
        disabled_reason=disabled_reason,
        dialog=True,
    )


def export_button(job: Job) -> ActionButton:
    price, _ = listed_price(job, EXPORT)
    return ActionButton(
        label="Export",
        url=reverse("export-new", args=[job.pk]),
        icon="scissors",
        price=price,
        disabled=price is None,
        disabled_reason="" if price is not None else NO_EXPORT_PRICE_TEXT,
        dialog=True,
        exact=True,
    )


def edit_button(job: Job, kind: str = "") -> ActionButton:
    """Only drafts can be edited: the studio does not open videos that were sent, also if they
    failed."""
    return ActionButton("Continue", reverse("studio-draft", args=[job.pk]), "pencil-square", kind)
