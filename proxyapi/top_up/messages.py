"""Texts for the outcome of a change of the automatic top-up."""

from __future__ import annotations

from proxyapi.models import TopUpType
from proxyapi.refusals import BY_OTHERS
from proxyapi.top_up.setting import TopUpSetting
from proxyapi.upstream import errors

CHANGE_TOO_OLD = (
    "Not saved. No worker processed it within 15 minutes, so it was cancelled. Nothing was sent."
)
CHANGE_IN_PROGRESS = "A change of this top-up is already being saved. Nothing more was sent."
REREAD_FAILED = (
    "Not saved. The service did not respond when the setting was read again, so nothing was sent. "
    "The setting is unchanged."
)
CHANGE_OUTCOME_UNKNOWN = (
    "The service did not confirm the setting. It is not sent again. The setting is read back "
    "within a minute after the service responds."
)
NO_PAYMENT_METHOD = (
    "Not saved. The account has no saved payment method at the service, which is required to turn "
    "top-up on. Save one on its billing page, then save here again. Nothing was bought."
)
EMAIL_NOT_VERIFIED = (
    "Not saved. The service does not allow changing top-up until the account's e-mail address is "
    "verified. Verify it at the service, then save here again."
)


def change_saved_message(saved: TopUpSetting) -> str:
    if saved.enabled:
        return f"Saved. Top-up is {saved.describe()}."
    return "Saved. Top-up is off. The purchase setting is kept for the next time."


def changed_meanwhile_message(displayed: TopUpSetting, current: TopUpSetting) -> str:
    return (
        f"Not saved. The setting was changed {BY_OTHERS}: it was {displayed.describe()} when "
        f"you opened the page, now it is {current.describe()}"
        f"{purchase_difference(displayed, current)}. Review it, then save again if needed."
    )


def purchase_difference(displayed: TopUpSetting, current: TopUpSetting) -> str:
    """The difference in the purchase, if the short descriptions are equal."""
    if displayed.describe() != current.describe():
        return ""
    return (
        f" and would buy {current.describe_purchase()}, "
        f"before it was {displayed.describe_purchase()}"
    )


def not_applied_message(current: TopUpSetting) -> str:
    return (
        f"Not saved. The response was lost, and the service shows top-up {current.describe()}. "
        "Save again if needed."
    )


def change_refusal_message(error: errors.UpstreamError, requested: TopUpSetting) -> str:
    if isinstance(error, errors.PaymentMethodMissing):
        return NO_PAYMENT_METHOD
    if isinstance(error, errors.EmailNotVerified):
        return EMAIL_NOT_VERIFIED
    if isinstance(error, errors.ValidationFailed):
        return invalid_setting_message(error, requested)
    return f"Not saved. {error.user_message} The setting is unchanged."


def invalid_setting_message(error: errors.ValidationFailed, requested: TopUpSetting) -> str:
    if "plan_id" in error.fields and requested.type == TopUpType.PACK:
        return (
            "Not saved. The service has no active credit pack "
            f"with the plan ID {requested.plan_id}."
        )
    upstream_text = (
        " ".join(line for lines in error.fields.values() for line in lines) or error.detail
    )
    return (
        f"Not saved. The service says: “{upstream_text}”"
        if upstream_text
        else f"Not saved. {error.user_message}"
    )
