"""Signal handlers for a sign-in, for a changed password and for second factors."""

from __future__ import annotations

import logging
import time
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.signals import password_changed, password_reset
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_used
from allauth.usersessions.models import UserSession
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db import transaction
from django.db.models.signals import post_delete, pre_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard.account.actions.account_audit import record_account_event
from dashboard.account.sign_in_history import record_sign_in
from dashboard.models import AuditAction, SecondFactorSecret, SignInOutcome, User
from dashboard.shared.account_changes import AccountChange, mail_account_change
from dashboard.shared.enqueue import CHANGED_MAIL_TASK, enqueue_now
from dashboard.shared.session_limits import SIGNED_IN_AT_KEY

log = logging.getLogger(__name__)
SECRET_FIELDS = ("secret", "seed")  # of `Authenticator.data`: the id of a SecondFactorSecret


@receiver(user_logged_in)
def store_sign_in_time(request: HttpRequest, **_: Any) -> None:
    request.session[SIGNED_IN_AT_KEY] = int(time.time())


@receiver(user_logged_out)
def record_sign_out(user: User | None, **_: Any) -> None:
    if user is not None and user.is_active:
        with transaction.atomic():
            record_account_event(user, AuditAction.SIGN_OUT, "own account")


@receiver(pre_save, sender=UserSession)
def clean_user_agent(instance: UserSession, **_: Any) -> None:
    """allauth stores the header as it came; PostgreSQL refuses one with a NUL."""
    instance.user_agent = "".join(filter(str.isprintable, instance.user_agent))


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


@receiver(authenticator_used)
def after_second_factor(user: User, authenticator: Authenticator, **_: Any) -> None:
    """Tell a person that a recovery code was used, and how many are left."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        authenticator.refresh_from_db()  # allauth passes it as it was before the code was used
        left = len(authenticator.wrap().get_unused_codes())
        mail_account_change(user, AccountChange.RECOVERY_CODE_USED, str(left))


@receiver(post_delete, sender=Authenticator)
def delete_secret_of_authenticator(instance: Authenticator, **_: Any) -> None:
    ids = [instance.data[name] for name in SECRET_FIELDS if name in instance.data]
    SecondFactorSecret.objects.filter(pk__in=ids).delete()
