"""Health checks: `/healthz` shows that the process runs, `/readyz` that it can work; `/metrics` has
the figures for Prometheus."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from dashboard.monitoring import metrics as portal_metrics
from dashboard.monitoring import readiness


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    missing = readiness.find_missing_requirements()
    return JsonResponse({"ready": not missing, "missing": missing}, status=503 if missing else 200)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For `Authorization: Bearer` with METRICS_TOKEN. 404 without it, so that a stranger does not
    learn that the page exists; 401 with another one."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if not settings.METRICS_TOKEN or scheme.lower() != "bearer":
        raise Http404
    if not constant_time_compare(token.strip(), settings.METRICS_TOKEN):
        return HttpResponse(
            "This is not the METRICS_TOKEN of the portal.\n",
            content_type="text/plain",
            status=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
    return HttpResponse(portal_metrics.render_metrics(), content_type=CONTENT_TYPE_LATEST)
