"""Invitations at a real mail server: it is away, and comes back; its mail lets a person join."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.members.actions.invitation_mail import NOT_ACCEPTED, mail_invitation
from dashboard.models import Invitation, Membership
from tests.mail_server import run_mail_server
from tests.servers import find_unused_port

SAM = "sam@brightcut.example"


@pytest.fixture
def port(settings: Any) -> int:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", find_unused_port()
    return int(settings.EMAIL_PORT)


def plain_text(message: Message) -> str:
    parts = [part for part in message.walk() if part.get_content_type() == "text/plain"]
    return bytes(parts[0].get_payload(decode=True)).decode()


def test_an_invitation_waits_for_the_mail_server_and_its_link_opens(
    mira: Membership,
    client_of: Callable[[Membership], Client],
    port: int,
    tmp_path: Path,
    client: Client,
) -> None:
    fields = {"addresses": SAM, "role": "producer", "message": "Über die Brücke – 桥"}
    assert client_of(mira).post(reverse("invitations"), fields).status_code == 302
    invitation = Invitation.objects.get()
    mail_invitation(invitation.pk)
    invitation.refresh_from_db()
    assert (invitation.mail_error, invitation.mail_sent_at) == (NOT_ACCEPTED, None)

    with run_mail_server(port, tmp_path / "mails") as server:
        Invitation.objects.update(mail_due_at=timezone.now())
        mail_invitation(invitation.pk)
        mail_invitation(invitation.pk)  # another worker
        (message,) = server.messages()

    invitation.refresh_from_db()
    assert invitation.mail_sent_at is not None
    assert (message["To"], invitation.mail_error) == (SAM, "")
    assert "Über die Brücke – 桥" in plain_text(message)
    link = re.search(r"https?://[^/]+(/\S+)", plain_text(message))
    assert link is not None
    page = client.get(link[1], follow=True)
    assert (page.status_code, "Northlight" in page.content.decode()) == (200, True)
