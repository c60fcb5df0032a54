"""A sign-in, a refused one, or a changed password: who, when and from where, never the password."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SignInOutcome(models.TextChoices):
    SIGNED_IN = "signed_in", "signed in"
    WRONG_PASSWORD = "wrong", "wrong address or password"
    RATE_LIMITED = "limited", "too many wrong passwords"
    DISABLED = "disabled", "right password of a disabled account"
    SSO_REFUSED = "sso_refused", "refused after single sign-on"
    SSO_REQUIRED = "sso_required", "right password, but single sign-on is required"
    PASSWORD_CHANGED = "password_changed", "password changed"
    PASSWORD_RESET = "password_reset", "password set by a link"
    WRONG_SECOND_FACTOR = "wrong_factor", "wrong second factor"
    SECOND_FACTOR_LIMITED = "factor_limited", "too many wrong codes"


class SignInEvent(models.Model):
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        db_index=False,  # the index below starts with this column
        related_name="sign_in_events",
        help_text="Null if no user has this address.",
    )
    address = models.EmailField(help_text="As typed, in lower case.")
    outcome = models.CharField(max_length=16, choices=SignInOutcome)
    method = models.CharField(
        max_length=40, blank=True, help_text="How somebody signed in, in words."
    )
    client_ip = models.GenericIPAddressField()
    user_agent = models.CharField(max_length=200, blank=True)
    happened_at = models.DateTimeField(auto_now_add=True, db_index=True)
    is_audited = models.BooleanField(
        default=False, help_text="Whether it is in the audit log of the user's teams."
    )

    class Meta:
        indexes = [
            models.Index(fields=["user", "-happened_at"], name="sign_ins_of_user"),
            models.Index(
                fields=["happened_at"],
                condition=models.Q(is_audited=False),
                name="sign_ins_to_audit",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address}: {self.get_outcome_display()}"
