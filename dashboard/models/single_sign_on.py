"""Single sign-on of a team by OpenID Connect: its provider, the client secret, roles by group, and
which account at the provider belongs to whom.

The client secret is a row of its own: the ciphertext is bound to it, and a new secret waits beside
the current one until a test passes with it.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Role, Team

GROUP_ROLES = tuple(role for role in Role if role != Role.OWNER)  # no group makes an owner
MAX_ROLE_GROUPS = 20
MAX_SUBJECT_CHARS = 255  # OpenID Connect Core 1.0, section 2


class SingleSignOn(models.Model):
    """`default_role` is the role of a person without a listed group; empty refuses them.

    `tested_settings` is the hash of the settings that the last test used, so a test counts only
    until they change.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.OneToOneField(Team, models.CASCADE, related_name="single_sign_on")
    issuer = models.URLField(max_length=500)
    client_id = models.CharField(max_length=200)
    groups_claim = models.CharField(max_length=100, default="groups")
    default_role = models.CharField(max_length=9, choices=Role, blank=True)
    is_required = models.BooleanField(
        default=False, help_text="Whether members who are not owners must sign in with it."
    )
    tested_at = models.DateTimeField(null=True, blank=True)
    tested_settings = models.CharField(max_length=64, blank=True)
    test_passed = models.BooleanField(default=False)
    test_result = models.CharField(max_length=400, blank=True, help_text="A sentence.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "single sign-on settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(default_role__in=["", *(role.value for role in GROUP_ROLES)]),
                name="single_sign_on_default_role_known",
            ),
            models.CheckConstraint(
                condition=Q(is_required=False) | Q(tested_at__isnull=False),
                name="single_sign_on_required_was_tested",
            ),
            models.CheckConstraint(
                condition=Q(tested_at__isnull=True, test_passed=False, tested_settings="")
                | (Q(tested_at__isnull=False) & ~Q(tested_settings="")),
                name="single_sign_on_test_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(issuer="") & ~Q(client_id="") & ~Q(groups_claim=""),
                name="single_sign_on_settings_given",
            ),
        ]

    def __str__(self) -> str:
        return f"single sign-on of {self.team_id} at {self.host}"

    @property
    def host(self) -> str:
        """Return the name of the provider for people."""
        return urlsplit(self.issuer).hostname or self.issuer

    def current_secret(self) -> SingleSignOnSecret | None:
        return self.secrets.filter(is_current=True).first()

    def newest_secret(self) -> SingleSignOnSecret | None:
        """Return the secret that a test uses: the one that waits, else the current one."""
        return self.secrets.order_by("is_current").first()

    def settings_hash(self, secret: SingleSignOnSecret) -> str:
        """Return a hash of all that decides who gets in, with this secret's row, not its value."""
        groups = list(self.role_groups.order_by("position").values_list("group", "role"))
        values = [self.issuer, self.client_id, self.groups_claim, self.default_role]
        text = json.dumps([*values, groups, str(secret.pk)])
        return hashlib.sha256(text.encode()).hexdigest()

    def is_tested(self) -> bool:
        """Whether a test passed with the settings as they are now, and no secret waits."""
        secret = self.newest_secret()
        return (
            self.test_passed
            and secret is not None
            and secret.is_current
            and self.tested_settings == self.settings_hash(secret)
        )


class SingleSignOnGroup(models.Model):
    """The role of a group of the provider. The first group that a person has counts."""

    single_sign_on = models.ForeignKey(SingleSignOn, models.CASCADE, related_name="role_groups")
    position = models.PositiveSmallIntegerField()
    group = models.CharField(max_length=200)
    role = models.CharField(max_length=9, choices=Role)

    class Meta:
        ordering = ("position",)
        constraints = [
            models.UniqueConstraint(
                fields=["single_sign_on", "position"], name="single_sign_on_group_position_once"
            ),
            models.UniqueConstraint(
                fields=["single_sign_on", "group"], name="single_sign_on_group_once"
            ),
            models.CheckConstraint(
                condition=Q(role__in=[role.value for role in GROUP_ROLES]),
                name="single_sign_on_group_role_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.role}"


class SingleSignOnSecret(models.Model):
    """A client secret, encrypted. At most one is current, and one waits for its test."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    single_sign_on = models.ForeignKey(SingleSignOn, models.CASCADE, related_name="secrets")
    ciphertext = models.BinaryField()
    is_current = models.BooleanField()
    set_at = models.DateTimeField(default=timezone.now)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        verbose_name_plural = "client secrets"
        constraints = [
            models.UniqueConstraint(
                fields=["single_sign_on", "is_current"], name="single_sign_on_secret_once"
            ),
        ]

    def __str__(self) -> str:
        return f"client secret {self.pk}"

    def encryption_context(self) -> str:
        """Return the name that binds the encrypted secret to this row."""
        return f"single-sign-on:{self.pk}"


class SingleSignOnLink(models.Model):
    """The account of a person at the provider, which `subject` (`sub`) names for good: an address
    may be given to somebody else there, a subject may not."""

    single_sign_on = models.ForeignKey(SingleSignOn, models.CASCADE, related_name="links")
    issuer = models.URLField(max_length=500)
    subject = models.CharField(max_length=MAX_SUBJECT_CHARS)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="single_sign_on_links"
    )
    linked_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["single_sign_on", "issuer", "subject"],
                name="single_sign_on_link_subject_once",
            ),
            models.UniqueConstraint(
                fields=["single_sign_on", "issuer", "user"], name="single_sign_on_link_user_once"
            ),
            models.CheckConstraint(
                condition=~Q(issuer="") & ~Q(subject=""), name="single_sign_on_link_complete"
            ),
        ]

    def __str__(self) -> str:
        return f"user {self.user_id} at {self.issuer}"


class SignInDomain(models.Model):
    """A domain whose addresses lead from the sign-in page to a team's provider. Only an operator
    allows one, and each leads to one team (decision 29)."""

    domain = models.CharField(max_length=253, unique=True, help_text="In ASCII and lower case.")
    team = models.ForeignKey(Team, models.CASCADE, related_name="sign_in_domains")
    allowed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("domain",)

    def __str__(self) -> str:
        return self.domain
