"""Mails to one address, as text and HTML. Workers send them, so links begin with PORTAL_URL and
never with the Host header of a request."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.conf import settings

PORTAL_SENDS_NO_MAIL = "this portal sends no e-mail."  # the half of a sentence
AUTOMATIC_MAIL_HEADERS = {"Auto-Submitted": "auto-generated"}


def send_rendered_mail(template: str, address: str, **context: object) -> None:
    """Render `template`_subject.txt, _message.txt and _message.html and send them.

    Raises OSError, as smtplib does, if the mail server does not accept it.
    """
    context |= {"portal": settings.PORTAL_URL}
    mail = get_adapter().render_mail(template, address, context, AUTOMATIC_MAIL_HEADERS)
    if settings.EMAIL_BACKEND.endswith("console.EmailBackend"):
        mail.alternatives.clear()  # the log shows text only
    mail.send()
