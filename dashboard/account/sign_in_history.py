"""The history of sign-ins, kept for SIGN_IN_RETENTION_DAYS."""

from __future__ import annotations

from datetime import timedelta

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone

from dashboard.models import SignInEvent, SignInOutcome, User

DELETE_BATCH_SIZE = 1000  # rows per transaction
LIMITED_RECORD_INTERVAL_S = 300  # a refused client keeps trying; one row is enough


def record_sign_in(
    request: HttpRequest, outcome: SignInOutcome, address: str, user: User | None = None
) -> None:
    """Add a row. The user is queried for every refusal, so that its time reveals nothing."""
    address = address.lower()[:254]
    SignInEvent.objects.create(
        user=user or User.objects.filter(email=address).first(),
        address=address,
        outcome=outcome,
        client_ip=get_adapter().get_client_ip(request),
        user_agent="".join(filter(str.isprintable, request.headers.get("User-Agent", "")))[:200],
    )


def record_limited_sign_in(request: HttpRequest, address: str) -> None:
    """Add at most one row per client in five minutes: the rows must not grow with an attack."""
    key = f"sign-in-limited:{get_adapter().get_client_ip(request)}"
    if cache.add(key, True, LIMITED_RECORD_INTERVAL_S):
        record_sign_in(request, SignInOutcome.RATE_LIMITED, address)


def prune_sign_in_events() -> int:
    """Delete rows older than SIGN_IN_RETENTION_DAYS in batches; return how many."""
    until = timezone.now() - timedelta(days=settings.SIGN_IN_RETENTION_DAYS)
    expired, deleted = SignInEvent.objects.filter(happened_at__lt=until), 0
    while batch := list(expired.values_list("pk", flat=True)[:DELETE_BATCH_SIZE]):
        deleted += SignInEvent.objects.filter(pk__in=batch).delete()[0]
    return deleted
