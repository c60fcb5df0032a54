"""Old rows of the request log, and old answers for idempotency keys, are deleted by a task."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.models import Membership
from dashboard.tasks import prune_gateway_requests
from proxyapi.models import GatewayRequest, StoredAnswer
from tests.dashboard.api_requests.requests import log_request, make_key

pytestmark = pytest.mark.postgresql


def test_rows_are_kept_as_long_as_the_setting_says(priya: Membership, settings) -> None:
    settings.GATEWAY_LOG_DAYS = 5
    key, now = make_key(priya), timezone.now()
    for days in (6, 4):
        log_request(key, path=f"/{days}", received_at=now - timedelta(days=days))
    prune_gateway_requests()
    assert list(GatewayRequest.objects.values_list("path", flat=True)) == ["/4"]


def test_answers_are_kept_for_two_days(priya: Membership) -> None:
    key, now = make_key(priya), timezone.now()
    for hours in (49, 47):
        at = now - timedelta(hours=hours)
        StoredAnswer.objects.create(key=key, idempotency_key=f"{hours}", created_at=at)
    prune_gateway_requests()
    assert list(StoredAnswer.objects.values_list("idempotency_key", flat=True)) == ["47"]
