"""Signal handlers for a sign-in and for a changed password."""

from __future__ import annotations

import logging
import time
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.signals import password_changed, password_reset
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard.account.sign_in_history import record_sign_in
from dashboard.models import SignInOutcome, User
from dashboard.shared.enqueue import CHANGED_MAIL_TASK, enqueue_now
from dashboard.shared.session_limits import SIGNED_IN_AT_KEY

log = logging.getLogger(__name__)


@receiver(user_logged_in)
def store_sign_in_time(request: HttpRequest, **_: Any) -> None:
    request.session[SIGNED_IN_AT_KEY] = int(time.time())


@receiver(password_changed)
def after_password_change(request: HttpRequest, user: User, **_: Any) -> None:
    record_sign_in(request, SignInOutcome.PASSWORD_CHANGED, user.email, user)
    enqueue_password_changed_mail(request, user)


@receiver(password_reset)
def after_password_reset(request: HttpRequest, user: User, **_: Any) -> None:
    record_sign_in(request, SignInOutcome.PASSWORD_RESET, user.email, user)
    enqueue_password_changed_mail(request, user)


def enqueue_password_changed_mail(request: HttpRequest, user: User) -> None:
    """Enqueue the mail. The password is already changed, and stays so without a broker."""
    arguments = (user.pk, timezone.now().isoformat(), get_adapter().get_client_ip(request))
    try:
        enqueue_now(CHANGED_MAIL_TASK, *arguments)
    except OperationalError:
        log.warning(
            "no e-mail about the changed password of user %s: the broker does not respond", user.pk
        )
