"""The key of the link that confirms a new e-mail address.

It names the user and is bound to the old address, the new one and the time at which it was entered:
it works once, and not after another address was entered or the change was taken back.
"""

from __future__ import annotations

from django.conf import settings
from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

from dashboard.models import User

KEY_SALT = "dashboard.account.email_confirmations"


def build_confirmation_key(user: User) -> str:
    return signing.dumps([user.pk, hash_email_change(user)], salt=KEY_SALT)


def find_confirming_user(key: str) -> User | None:
    """Return the user whose new address the key confirms, or None if it is not valid any more."""
    try:
        user_id, digest = signing.loads(key, salt=KEY_SALT, max_age=settings.EMAIL_CHANGE_TIMEOUT)
    except (signing.BadSignature, ValueError):
        return None
    user = User.objects.filter(pk=user_id, is_active=True).exclude(pending_email="").first()
    if user is None or not constant_time_compare(digest, hash_email_change(user)):
        return None
    return user


def hash_email_change(user: User) -> str:
    entered_at = user.pending_email_at.timestamp() if user.pending_email_at else 0
    return salted_hmac(
        KEY_SALT, f"{user.email} {user.pending_email} {entered_at}", algorithm="sha256"
    ).hexdigest()


def is_address_taken(address: str, user: User) -> bool:
    return User.objects.filter(email=address).exclude(pk=user.pk).exists()
