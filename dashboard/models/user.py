"""Users. They sign in with their e-mail address; there are no user names."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from dashboard.models.email_address import address_key


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=address_key(email), **fields)
        user.set_password(password)
        user.save()
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(email, password, is_superuser=True, is_staff=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField(unique=True)
    pending_email = models.EmailField(
        blank=True, help_text="The new address, until it is confirmed from there."
    )
    pending_email_at = models.DateTimeField(null=True, blank=True)
    name = models.CharField(max_length=100)
    theme = models.CharField(
        max_length=5, blank=True, choices=[("light", "Light"), ("dark", "Dark")]
    )
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    joined_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_any_case")]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def first_name(self) -> str:
        """Return the first word of the name, or the local part of the e-mail address."""
        return self.name.split()[0] if self.name.split() else self.email.partition("@")[0]

    @property
    def initials(self) -> str:
        parts = self.name.split() or [self.email]
        return (parts[0][:1] + (parts[-1][:1] if len(parts) > 1 else "")).upper()
