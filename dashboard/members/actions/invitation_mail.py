"""Send the mail of an invitation, with a new link each time.

One conditional update claims the mail and stores the hash of its key. If the worker dies, the mail
is due again after `MAIL_LEASE`; the next one has another link, which ends this one.
"""

from __future__ import annotations

import logging
import secrets
import smtplib
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Invitation, hash_invitation_key
from dashboard.shared.mails import send_rendered_mail
from proxyapi.events import EventType, publish_event

log = logging.getLogger(__name__)
MAIL_LEASE = timedelta(minutes=2)
# Delays after the first attempt, the second, and so on; after the last one it is given up.
RETRY_DELAYS = tuple(timedelta(seconds=seconds) for seconds in (30, 120, 600, 3600, 21600))
SMTP_PERMANENT_CODES = range(500, 600)
NOT_ACCEPTED = "The mail server did not accept it. It is sent again automatically."
ADDRESS_REJECTED = "The mail server rejected this address ({code})."
GIVEN_UP = "The mail server did not accept it. It is not sent again automatically."


def mail_invitation(invitation_id: UUID) -> None:
    """Send the mail if it is due and no other worker has claimed it."""
    now, key = timezone.now(), secrets.token_urlsafe(32)
    claimed = {"mail_due_at": now + MAIL_LEASE, "key_hash": hash_invitation_key(key)}
    due = Invitation.objects.due(now).filter(pk=invitation_id)
    if not due.order_by().update(mail_attempts=F("mail_attempts") + 1, **claimed):
        return
    related = ("team__tenant", "invited_by")
    invitation = Invitation.objects.select_related(*related).get(pk=invitation_id)
    try:
        render_and_send(invitation, key)
    except smtplib.SMTPRecipientsRefused as error:
        code = next((code for code, _ in error.recipients.values()), 0)
        is_permanent = code in SMTP_PERMANENT_CODES
        save_mail_failure(invitation, ADDRESS_REJECTED.format(code=code) if is_permanent else "")
    except OSError as error:
        log.warning("invitation %s was not mailed: %s", invitation.pk, type(error).__name__)
        save_mail_failure(invitation)
    else:
        sent = {"mail_due_at": None, "mail_sent_at": timezone.now(), "mail_error": ""}
        save_mail_outcome(invitation, **sent)


def render_and_send(invitation: Invitation, key: str) -> None:
    path = reverse("invitation", args=[key])
    with timezone.override(invitation.team.tenant.zone):
        send_rendered_mail(
            "account/email/invitation",
            invitation.address,
            invitation=invitation,
            team=invitation.team,
            inviter=invitation.invited_by,
            role=invitation.get_role_display().lower(),
            link=f"{settings.PORTAL_URL}{path}",
            expires_at=timezone.localtime(invitation.expires_at),
        )


def save_mail_failure(invitation: Invitation, permanent_error: str = "") -> None:
    """Schedule the next attempt, or give up."""
    is_last = invitation.mail_attempts > len(RETRY_DELAYS)
    if permanent_error or is_last:
        save_mail_outcome(invitation, mail_due_at=None, mail_error=permanent_error or GIVEN_UP)
        return
    next_at = timezone.now() + RETRY_DELAYS[invitation.mail_attempts - 1]
    save_mail_outcome(invitation, mail_due_at=next_at, mail_error=NOT_ACCEPTED)


def save_mail_outcome(invitation: Invitation, **outcome: object) -> None:
    """Save it unless the invitation was sent again meanwhile."""
    same = Invitation.objects.filter(pk=invitation.pk, key_hash=invitation.key_hash)
    same.update(**outcome)
    publish_event(invitation.team.tenant_id, EventType.MEMBER, invitation.team_id)
