"""The genres that an account's characters can be previewed in, as last read, and the request to
read them."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from proxyapi import upstream_address
from proxyapi.models.account import Account


class CharacterGenresQuerySet(models.QuerySet["CharacterGenres"]):
    def due(self, now: datetime) -> Self:
        return self.filter(
            upstream_address.current_upstream_filter("account__environment"), due_at__lte=now
        )


class CharacterGenres(models.Model):
    account = models.OneToOneField(
        Account, models.CASCADE, primary_key=True, related_name="character_genres"
    )
    genres = models.JSONField(default=list, blank=True, help_text="Id and name of each.")
    read_at = models.DateTimeField(null=True, blank=True)
    tried_at = models.DateTimeField(null=True, blank=True, help_text="When it was read last.")
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="When to read it; null if nobody waits for it."
    )
    message = models.TextField(blank=True, help_text="Why it was not read; shown to users.")

    objects = CharacterGenresQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(due_at__isnull=False), name="character_genres_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{len(self.genres)} genres of {self.account_id}"
