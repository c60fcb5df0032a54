"""What becomes of a change of the automatic top-up, in sentences for people (look §11)."""

from __future__ import annotations

from proxyapi.models import TopUpType
from proxyapi.top_up.reading import PLANLESS
from proxyapi.top_up.setting import Setting
from proxyapi.upstream import errors

__all__ = ["LOST", "ON_ITS_WAY", "PLANLESS", "TOO_LATE", "UNREAD"]

TOO_LATE = (
    "Not saved. For a quarter of an hour no worker took it up, so it was given up. Nothing was "
    "sent."
)
ON_ITS_WAY = "A change of this top-up is on its way already. Nothing more was sent."
UNREAD = (
    "Not saved. The service did not answer when the setting was read again, "
    "so nothing was sent. The setting is as it was."
)
LOST = (
    "The service did not answer whether it took the setting. It is not sent again; "
    "reading it back decides, within a minute once the service answers."
)
NO_METHOD = (
    "Not saved. The service has no saved payment method for this account, and without one it "
    "does not switch top-up on. Save one on its billing page, then save here again. "
    "Nothing was bought."
)
UNVERIFIED = (
    "Not saved. The account's e-mail address is not verified, and until it is the service does not "
    "let top-up be changed. Verify it at the service, then save here again."
)


def saved(left: Setting) -> str:
    if left.enabled:
        return f"Saved. Top-up is {left.words()}."
    return "Saved. Top-up is off. What it would buy is kept for the next time."


def changed_meanwhile(seen: Setting, found: Setting) -> str:
    return (
        f"Not saved. Somebody changed the setting meanwhile: it was {seen.words()} when you opened "
        f"the page, now it is {found.words()}{kept(seen, found)}. "
        "Look at it, then save again if you still want to."
    )


def kept(seen: Setting, found: Setting) -> str:
    """What differs where the short form of both is the same."""
    if seen.words() != found.words():
        return ""
    return f" and would buy {found.purchase()}, before it was {seen.purchase()}"


def not_taken(found: Setting) -> str:
    return (
        f"Not saved. The answer got lost, and the service shows top-up {found.words()}. "
        "Save again if you still want to."
    )


def refusal(error: errors.UpstreamError, wanted: Setting) -> str:
    if isinstance(error, errors.PaymentMethodMissing):
        return NO_METHOD
    if isinstance(error, errors.EmailNotVerified):
        return UNVERIFIED
    if isinstance(error, errors.Invalid):
        return invalid(error, wanted)
    return f"Not saved. {error.user_message} The setting is as it was."


def invalid(error: errors.Invalid, wanted: Setting) -> str:
    if "plan_id" in error.fields and wanted.type == TopUpType.PACK:
        return f"Not saved. The service sells no active credit pack with the id {wanted.plan_id}."
    said = " ".join(line for lines in error.fields.values() for line in lines) or error.detail
    return f"Not saved. The service says: “{said}”" if said else f"Not saved. {error.user_message}"
