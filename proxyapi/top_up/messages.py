"""What becomes of a change of the automatic top-up, in sentences for people."""

from __future__ import annotations

from proxyapi.models import TopUpType
from proxyapi.top_up.setting import TopUpSetting
from proxyapi.upstream import errors

CHANGE_TOO_OLD = (
    "Not saved. For a quarter of an hour no worker took it up, so it was given up. Nothing was "
    "sent."
)
CHANGE_IN_PROGRESS = "A change of this top-up is on its way already. Nothing more was sent."
REREAD_FAILED = (
    "Not saved. The service did not answer when the setting was read again, "
    "so nothing was sent. The setting is as it was."
)
CHANGE_OUTCOME_UNKNOWN = (
    "The service did not answer whether it took the setting. It is not sent again; "
    "reading it back decides, within a minute once the service answers."
)
NO_PAYMENT_METHOD = (
    "Not saved. The service has no saved payment method for this account, and without one it "
    "does not switch top-up on. Save one on its billing page, then save here again. "
    "Nothing was bought."
)
EMAIL_NOT_VERIFIED = (
    "Not saved. The account's e-mail address is not verified, and until it is the service does not "
    "let top-up be changed. Verify it at the service, then save here again."
)


def change_saved_message(left: TopUpSetting) -> str:
    if left.enabled:
        return f"Saved. Top-up is {left.describe()}."
    return "Saved. Top-up is off. What it would buy is kept for the next time."


def changed_meanwhile_message(seen: TopUpSetting, found: TopUpSetting) -> str:
    return (
        f"Not saved. Somebody changed the setting meanwhile: it was {seen.describe()} "
        f"when you opened the page, now it is {found.describe()}"
        f"{purchase_difference(seen, found)}. "
        "Look at it, then save again if you still want to."
    )


def purchase_difference(seen: TopUpSetting, found: TopUpSetting) -> str:
    """What differs where the short form of both is the same."""
    if seen.describe() != found.describe():
        return ""
    return f" and would buy {found.describe_purchase()}, before it was {seen.describe_purchase()}"


def not_applied_message(found: TopUpSetting) -> str:
    return (
        f"Not saved. The answer got lost, and the service shows top-up {found.describe()}. "
        "Save again if you still want to."
    )


def change_refusal_message(error: errors.UpstreamError, wanted: TopUpSetting) -> str:
    if isinstance(error, errors.PaymentMethodMissing):
        return NO_PAYMENT_METHOD
    if isinstance(error, errors.EmailNotVerified):
        return EMAIL_NOT_VERIFIED
    if isinstance(error, errors.ValidationFailed):
        return invalid_setting_message(error, wanted)
    return f"Not saved. {error.user_message} The setting is as it was."


def invalid_setting_message(error: errors.ValidationFailed, wanted: TopUpSetting) -> str:
    if "plan_id" in error.fields and wanted.type == TopUpType.PACK:
        return f"Not saved. The service sells no active credit pack with the id {wanted.plan_id}."
    said = " ".join(line for lines in error.fields.values() for line in lines) or error.detail
    return f"Not saved. The service says: “{said}”" if said else f"Not saved. {error.user_message}"
