"""What a person is notified of, and where: the card of their account, and saving it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from dashboard.models import NotificationKind, NotificationPreference, User
from dashboard.shared.notifications import NotificationChannels, channels_of

KIND_NOTES = {
    NotificationKind.VIDEO_DONE: "in any of your teams",
    NotificationKind.VIDEO_FAILED: "with the service’s reason",
    NotificationKind.RENDER_NOT_SENT: "it was to start by itself",
    NotificationKind.BATCH_ENDED: "or paused by itself; its videos are not told one by one",
    NotificationKind.SERIES_PAUSED: "it starts nothing until I start it again",
    NotificationKind.REQUEST_ANSWERED: "approved, declined, outdated or commented on",
    NotificationKind.TOKEN_STOPPED: "the service refuses it",
    NotificationKind.MONTHLY_REPORT: "if a treasurer or owner made me a recipient",
}


@dataclass(frozen=True, slots=True)
class NotificationRow:
    """A kind with its boxes. `name` is the prefix of their field names, "" for a kind that is
    always told."""

    label: str
    note: str
    in_portal: bool
    by_email: bool
    name: str = ""

    @property
    def is_fixed(self) -> bool:
        return not self.name


ALWAYS_TOLD = (
    NotificationRow("My role or my place in a team changed", "always told", True, True),
    NotificationRow("My password was changed", "always told by e-mail", False, True),
)


def load_notification_rows(person: User) -> tuple[NotificationRow, ...]:
    """One query."""
    rows = tuple(
        NotificationRow(kind.label, KIND_NOTES[kind], *channels, name=kind.value)
        for kind, channels in channels_of(person).items()
    )
    return rows + ALWAYS_TOLD


@transaction.atomic
def save_notification_preferences(person: User, boxes: Mapping[str, str]) -> bool:
    """Save the boxes of a form: one that is not ticked is not sent. Return whether any changed."""
    before, is_changed = channels_of(person), False
    for kind in NotificationKind:
        channels = NotificationChannels(
            in_portal=f"{kind.value}-portal" in boxes, by_email=f"{kind.value}-email" in boxes
        )
        if channels != before[kind]:
            is_changed = True
            NotificationPreference.objects.update_or_create(
                user=person, kind=kind, defaults=channels._asdict()
            )
    return is_changed
