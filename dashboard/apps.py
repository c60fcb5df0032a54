"""The site's app."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"
    verbose_name = "Reelroom"

    def ready(self) -> None:
        # Shared tasks bind to this app, so it has to exist in every process, not only in workers.
        from dashboard.account import signals  # noqa: F401
        from dashboard.monitoring import log_format

        log_format.configure_structlog()
