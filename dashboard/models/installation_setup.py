"""The set-up of an installation without the demo: the one-time code that lets the first owner in.

There is one row. It is locked while the owner is created, so that two people cannot both be first.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.db import models
from django.db.models import Q
from django.utils import timezone

SETUP_ROW_ID = 1
SETUP_CODE_LIFETIME = timedelta(hours=24)


class InstallationSetup(models.Model):
    id = models.PositiveSmallIntegerField(primary_key=True, default=SETUP_ROW_ID, editable=False)
    code_hash = models.CharField(
        max_length=128, blank=True, help_text="Of the newest code; empty once it was used."
    )
    code_made_at = models.DateTimeField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    owner_created_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=SETUP_ROW_ID), name="installation_setup_once"),
            models.CheckConstraint(
                condition=Q(owner_created_at__isnull=True) | Q(code_hash=""),
                name="installation_setup_code_once",
            ),
        ]

    def __str__(self) -> str:
        return "set up" if self.owner_created_at else "waiting for the first owner"

    def set_code(self, code: str) -> None:
        """Replace the code; only its slow hash is stored."""
        self.code_hash = make_password(normalize_setup_code(code))
        self.code_made_at = timezone.now()

    def accepts_code(self, code: str) -> bool:
        """Whether it is the newest code and younger than a day. The hashes are compared in constant
        time."""
        is_young = timezone.now() - self.code_made_at < SETUP_CODE_LIFETIME
        return check_password(normalize_setup_code(code), self.code_hash) and is_young


def normalize_setup_code(code: str) -> str:
    return "".join(code.split()).replace("-", "").upper()
