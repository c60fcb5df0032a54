"""Mails about changes of an account, and the link that confirms a new e-mail address. The worker
sends them."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from dashboard.account.email_confirmations import build_confirmation_key, is_address_taken
from dashboard.models import User
from dashboard.shared.account_changes import AccountChange
from dashboard.shared.mails import send_rendered_mail

# The subject, and what happened.
CHANGE_TEXTS = {
    AccountChange.APP_ADDED: (
        "Two-factor sign-in by app was turned on",
        (
            "An authenticator app was added to your account. From now on you sign in with your "
            "password and a code of the app."
        ),
    ),
    AccountChange.APP_REMOVED: (
        "Two-factor sign-in by app was turned off",
        "The authenticator app was removed from your account. Its codes are not asked any more.",
    ),
    AccountChange.EMAIL_CHANGED: (
        "Your Reelroom e-mail address was changed",
        "Your e-mail address is {detail} now. You sign in with it, and get e-mails there.",
    ),
    AccountChange.EMAIL_REQUESTED: (
        "A new e-mail address was entered",
        (
            "Your e-mail address is to become {detail}. Until it is confirmed from there, this one "
            "stays. You can take the change back on the page of your account."
        ),
    ),
    AccountChange.PASSKEY_ADDED: (
        "A passkey was added to your account",
        "The passkey “{detail}” was added. It signs you in without a password.",
    ),
    AccountChange.PASSKEY_REMOVED: (
        "A passkey was removed from your account",
        "The passkey “{detail}” was removed. It does not sign you in any more.",
    ),
    AccountChange.RECOVERY_CODE_USED: (
        "A recovery code was used",
        "Somebody signed in to your account with a recovery code. Left: {detail} codes.",
    ),
    AccountChange.RECOVERY_CODES_RENEWED: (
        "New recovery codes were made",
        "Your account has ten new recovery codes. The old ones do not work any more.",
    ),
    AccountChange.SECOND_FACTOR_RESET: (
        "Your two-factor sign-in was reset",
        (
            "{detail} reset it: your authenticator app, passkeys and recovery codes were removed, "
            "and you were signed out everywhere. Sign in with your password, and set it up again."
        ),
    ),
}


def send_account_change_mail(
    user_id: int, change: str, detail: str, address: str, changed_at: datetime, client_ip: str
) -> None:
    """Mail what changed to `address`. Raises OSError."""
    user = User.objects.get(pk=user_id)
    title, sentence = CHANGE_TEXTS[AccountChange(change)]
    membership = user.memberships.select_related("team__tenant").first()
    with timezone.override(membership.team.tenant.zone if membership else None):
        send_rendered_mail(
            "account/email/account_changed",
            address,
            user=user,
            title=title,
            sentence=sentence.format(detail=detail),
            link=f"{settings.PORTAL_URL}{reverse('account_reset_password')}",
            changed_at=timezone.localtime(changed_at),
            client_ip=client_ip,
        )


def send_confirmation_link(user_id: int) -> None:
    """Mail a link to the new address of the user, unless it belongs to somebody else. Raises
    OSError.

    The link is created here: in a task's arguments it would be stored in Redis.
    """
    user = User.objects.get(pk=user_id)
    if not user.pending_email or is_address_taken(user.pending_email, user):
        return
    key = build_confirmation_key(user)
    send_rendered_mail(
        "account/email/email_confirmation",
        user.pending_email,
        user=user,
        link=f"{settings.PORTAL_URL}{reverse('email-confirmation', args=[key])}",
        hours=settings.EMAIL_CHANGE_TIMEOUT // 3600,
    )
