"""What the gateway asks the site for beside the rules: reports of a team, and imports of jobs.

The proxy knows no team; the setting `GATEWAY_SITE` names the class of the site that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from proxyapi.models import ApiKey, Job, JobKind

BATCH_NOT_STARTED = "BATCH-NOT-STARTED"  # with the dry run of now in `error.batch`
REPORTS = ("usage", "ledger", "budgets", "audit")


class ReportPage(NamedTuple):
    """Rows as JSON, and the cursor of those that follow; None at the end."""

    rows: list[dict[str, Any]]
    next_cursor: str | None = None


class Site(Protocol):
    """Every method runs in a thread of its own and may query."""

    def read_report(self, key: ApiKey, report: str, query: Mapping[str, str]) -> ReportPage:
        """One page of one of `REPORTS`, as the key's owner may read it. Raises `Refusal`, and
        `GatewayRefusal` for a parameter that cannot be read (400) and for what the owner may not
        read (403)."""

    def make_batch(
        self, key: ApiKey, fields: Mapping[str, Any], id: UUID
    ) -> tuple[int, dict[str, Any]]:
        """Store a batch with this id, and start it if `fields` say so; one that exists is not
        changed. Returns a status and what is known of it. Here and below: raises `Refusal`, and
        `GatewayRefusal`."""

    def list_batches(self, key: ApiKey, query: Mapping[str, str]) -> ReportPage:
        """The batches of the team, the newest first."""

    def show_batch(self, key: ApiKey, id: UUID) -> dict[str, Any]:
        """The dry run of a batch, or its progress."""

    def change_batch(
        self, key: ApiKey, id: UUID, action: str, fields: Mapping[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        """Start, pause or resume it, or cancel the rest. The status is 202 if a person has to
        approve it."""

    def import_job(self, key: ApiKey, kind: JobKind, upstream_id: str) -> tuple[Job, bool]:
        """The job with this id at the service, and whether it is new in the library. Raises
        `Refusal`, and `GatewayRefusal` (403) if the owner may import none."""


@lru_cache(maxsize=1)
def site() -> Site:
    return cast(Site, import_string(settings.GATEWAY_SITE)())
