"""The newest e-mails of the demo: a list in Redis, because each process sends some."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import cast
from uuid import uuid4

from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends.console import EmailBackend
from django.utils import timezone
from redis import RedisError

from dashboard.models import User
from proxyapi.redis_client import connect_redis

KEPT_MAILS_KEY = "demo:mails"  # newest first
MAX_KEPT_MAILS = 100


@dataclass(frozen=True, slots=True)
class KeptMail:
    id: str
    sent_at_iso: str
    to: list[str]
    subject: str
    text: str
    html: str  # empty if the mail has only text

    @property
    def sent_at(self) -> datetime:
        return datetime.fromisoformat(self.sent_at_iso)


class KeepingMailBackend(EmailBackend):
    """Writes each mail to the log, as text, and keeps it."""

    def write_message(self, message: EmailMessage) -> None:
        # The log has it even if Redis does not answer; a mail is not sent again for the page.
        with contextlib.suppress(RedisError):
            keep_mail(message)
        if isinstance(message, EmailMultiAlternatives):
            message.alternatives.clear()
        super().write_message(message)


def keep_mail(message: EmailMessage) -> None:
    """Add the mail, and drop what is older than the newest hundred. Raises RedisError."""
    alternatives = getattr(message, "alternatives", ())
    mail = KeptMail(
        id=uuid4().hex,
        sent_at_iso=timezone.now().isoformat(),
        to=list(message.to),
        subject=str(message.subject),
        text=str(message.body),
        html=next((str(part.content) for part in alternatives), ""),
    )
    with connect_redis().pipeline() as pipeline:
        pipeline.lpush(KEPT_MAILS_KEY, json.dumps(asdict(mail)))
        pipeline.ltrim(KEPT_MAILS_KEY, 0, MAX_KEPT_MAILS - 1)
        pipeline.execute()


def load_mails_for(user: User) -> list[KeptMail]:
    """Return the mails that the user may read, newest first. Raises RedisError."""
    rows = cast(list[bytes], connect_redis().lrange(KEPT_MAILS_KEY, 0, -1))
    mails = [KeptMail(**json.loads(row)) for row in rows]
    # A link in a mail sets the password of whom it is for, or joins as them. So others' mails are
    # only for operators, who can read them in the log, and set each password by a command.
    return [mail for mail in mails if user.is_superuser or user.email in mail.to]
