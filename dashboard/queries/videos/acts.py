"""What one reader may do with a video, as buttons: shown or not, disabled with the reason, priced.

This is the one part that depends on the reader; it is never pushed, only fetched by their session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone

from dashboard.access import can
from dashboard.models import Ask, Membership
from dashboard.queries.videos.sayings import is_left_open
from dashboard.roles import Permission
from proxyapi import pricing
from proxyapi.models import Charge, ChargeState, Job, TokenState

STOPPED = (TokenState.REVOKED, TokenState.REMOVED)
UNUSABLE = "The token it was made with does not work any more."


@dataclass(frozen=True, slots=True)
class Button:
    """`price` in credits: a button with one charges; about that much unless `exact`. `dialog`: it
    asks first. `why`: disabled. `post`: it is done by the press itself, and asks nothing."""

    label: str
    url: str
    icon: str = ""
    kind: str = ""
    price: Decimal | None = None
    disabled: bool = False
    why: str = ""
    dialog: bool = False
    exact: bool = False
    post: bool = False


def card_acts(
    job: Job, charges: Sequence[Charge], state: str, reader: Membership
) -> tuple[Button, ...]:
    """The few acts that stand on a card."""
    if not can(reader, Permission.RENDER):
        return ()
    if job.hidden_at is not None:
        url = reverse("video-restorations", args=[job.pk])
        return (Button("Show again", url, "eye", post=True),)
    if state == "failed":
        return (retry(job),)
    return (edit(job),) if state == "draft" else ()


def page_acts(
    job: Job, charges: Sequence[Charge], state: str, reader: Membership
) -> tuple[Button, ...]:
    """The acts in the head of the video's page; one of them at most is the blue one."""
    buttons = []
    if state == "completed" and job.media_url:
        url = f"{reverse('video-media', args=[job.pk])}?download=1"
        buttons.append(Button("Download", url, "arrow-down-tray", "fold"))
    buttons += ask_acts(charges, reader)
    if can(reader, Permission.LOOK_AGAIN) and wants_a_look(job, charges, state):
        url = reverse("video-looks", args=[job.pk])
        buttons.append(Button("Look again", url, "eye", post=True))
    if can(reader, Permission.RENDER):
        if state == "failed":
            buttons.append(retry(job, kind="primary"))
        elif state == "draft":
            buttons.append(edit(job, kind="primary"))
        elif state == "paused" and job.token.state in STOPPED and job.member_id == reader.user_id:
            buttons.append(Button("Add a new token", reverse("tokens"), "key", "primary"))
        hiding = reverse("video-hiding", args=[job.pk])
        buttons.append(Button("Hide from the library", hiding, "eye-slash", "square", dialog=True))
    return tuple(buttons)


def wants_a_look(job: Job, charges: Sequence[Charge], state: str) -> bool:
    """Whether nobody looks by themselves any more, or seldom, or the last look told nothing."""
    if job.token.state != TokenState.WORKING or job.account.pause_reason:
        return False
    if state in ("running", "late"):
        return state == "late" or job.is_polling_stopped or bool(job.look_error)
    return state == "unknown" and any(is_left_open(charge, timezone.now()) for charge in charges)


def ask_acts(charges: Sequence[Charge], reader: Membership) -> list[Button]:
    """What there is to do about a charge that waits for a word; one query where one does."""
    asked = [charge for charge in charges if charge.state == ChargeState.DRAFT]
    ask = Ask.objects.waiting().filter(charge__in=asked).first() if asked else None
    if ask is None:
        return []
    buttons = []
    if can(reader, Permission.MANAGE_MONEY):
        yes, no = (reverse(f"ask-{name}", args=[ask.pk]) for name in ("approvals", "refusals"))
        buttons.append(Button("Decline", no, "x-mark", "quiet", dialog=True))
        price = asked[-1].hold
        buttons.append(Button("Approve", yes, "check", "primary", price, dialog=True, exact=True))
    if ask.member_id == reader.user_id:
        back = reverse("ask-withdrawals", args=[ask.pk])
        buttons.append(Button("Take it back", back, "arrow-uturn-left", dialog=True))
    return buttons


def retry(job: Job, kind: str = "") -> Button:
    why = job.account.pause_reason
    if job.token.state != TokenState.WORKING:
        why = UNUSABLE
    return Button(
        label="Retry",
        url=reverse("video-retries", args=[job.pk]),
        icon="arrow-path",
        kind=kind,
        price=pricing.estimate_retry_price(job),
        disabled=bool(why),
        why=why,
        dialog=True,
    )


def edit(job: Job, kind: str = "") -> Button:
    """Of a draft alone: the studio is closed to what was sent, a failed one among it."""
    url = reverse("studio-step", args=[job.pk, "script"])
    return Button("Continue", url, "pencil-square", kind)
