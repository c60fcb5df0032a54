"""Health checks: `/healthz` shows that the process runs, `/readyz` that it can work."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

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
