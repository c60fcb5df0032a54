"""Every URL of the site, one file per area. URLs are nouns; an action is named by a noun."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from dashboard.monitoring import views as monitoring_views
from dashboard.shared.live import views as live_views

AREAS = (
    *(
        "account",
        "overview",
        "library",
        "parts",
        "clips",
        "storyboards",
        "studio",
        "batches",
        "series",
        "ideas",
        "voices",
        "characters",
        "budgets",
        "ledger",
        "forecast",
        "top_up",
    ),
    *(
        "costs",
        "reconciliation",
        "alerts",
        "members",
        "security",
        "tokens",
        "api_keys",
        "agents",
        "api_requests",
        "audit",
    ),
    *("operations", "single_sign_on", "instance", "demo_mails", "setup"),
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", monitoring_views.healthz, name="healthz"),
    path("readyz", monitoring_views.readyz, name="readyz"),
    path("metrics", monitoring_views.metrics, name="metrics"),
    path("live/", live_views.open_event_stream, name="live"),
    *(path("", include(f"dashboard.{area}.urls")) for area in AREAS),
]

handler400 = "dashboard.shared.error_views.bad_request"
handler403 = "dashboard.shared.error_views.forbidden"
handler404 = "dashboard.shared.error_views.page_not_found"
handler500 = "dashboard.shared.error_views.server_error"
