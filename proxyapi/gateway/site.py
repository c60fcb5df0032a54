"""What the gateway asks the site for beside the rules: reports of a team, and imports of jobs.

The proxy knows no team; the setting `GATEWAY_SITE` names the class of the site that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from proxyapi.models import ApiKey, Job, JobKind

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

    def import_job(self, key: ApiKey, kind: JobKind, upstream_id: str) -> tuple[Job, bool]:
        """The job with this id at the service, and whether it is new in the library. Raises
        `Refusal`, and `GatewayRefusal` (403) if the owner may import none."""


@lru_cache(maxsize=1)
def site() -> Site:
    return cast(Site, import_string(settings.GATEWAY_SITE)())
