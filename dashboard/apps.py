"""The app configuration of the site."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"
    verbose_name = "Reelroom"

    def ready(self) -> None:
        # Shared tasks bind to the Celery app, so every process needs it, not only workers.
        from dashboard import celery  # noqa: F401
        from dashboard.account import signals  # noqa: F401
        from dashboard.alerts.delivery.api_events import enqueue_deliveries
        from dashboard.clips import changes as clip_changes
        from dashboard.library import changes as library_changes
        from dashboard.monitoring import log_format
        from dashboard.parts import changes as part_changes
        from dashboard.shared.approvals import record_outcome
        from dashboard.shared.live.change_rendering import register_change_fragments
        from dashboard.studio import changes as studio_changes
        from proxyapi.models import event_recorded

        log_format.configure_structlog()
        event_recorded.connect(enqueue_deliveries)
        event_recorded.connect(record_outcome)
        register_change_fragments(
            library_changes.CHANGES_TEMPLATE, library_changes.changed_videos_context
        )
        register_change_fragments(
            part_changes.PART_CHANGES_TEMPLATE, part_changes.changed_parts_context
        )
        register_change_fragments(
            studio_changes.CHANGES_TEMPLATE, studio_changes.changed_drafts_context
        )
        register_change_fragments(
            clip_changes.CLIP_CHANGES_TEMPLATE, clip_changes.changed_clip_drafts_context
        )
