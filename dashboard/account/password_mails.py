"""Mails about passwords, as text and HTML. The worker sends them."""

from __future__ import annotations

from datetime import datetime

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from dashboard.models import User
from dashboard.models.email_address import address_key
from dashboard.shared.mails import send_rendered_mail


def send_reset_link(address: str) -> None:
    """Mail a link for a new password to the user with this address, if there is one.

    The link is created here: in a task's arguments it would be stored in Redis.
    """
    user = User.objects.filter(email=address_key(address), is_active=True).first()
    if user is None or not settings.PASSWORD_RESET_BY_EMAIL:
        return
    route = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
    path = reverse("account_reset_password_from_key", kwargs=route)
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    send_account_mail("password_reset_key", user, link=f"{settings.PORTAL_URL}{path}", hours=hours)


def send_password_changed_mail(user_id: int, changed_at: datetime, client_ip: str) -> None:
    user = User.objects.get(pk=user_id)
    path = reverse("account_reset_password")
    membership = user.memberships.select_related("team__tenant").first()
    with timezone.override(membership.team.tenant.zone if membership else None):
        send_account_mail(
            "password_changed",
            user,
            link=f"{settings.PORTAL_URL}{path}",
            changed_at=timezone.localtime(changed_at),
            client_ip=client_ip,
        )


def send_account_mail(name: str, user: User, **context: object) -> None:
    """Render templates/account/email/`name`_… and send it. Raises OSError."""
    send_rendered_mail(f"account/email/{name}", user.email, user=user, **context)
