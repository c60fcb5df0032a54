"""The site as the gateway asks it: reports with the rights of the key's owner, and imports."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404

from dashboard.api_keys.team_rules import PortalTeamRules, load_active_owner
from dashboard.library.actions import import_video
from dashboard.reports import batches, rows
from dashboard.reports.query import TIME_PARAMS, parse_query
from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.site import ReportPage
from proxyapi.models import ApiKey, Job, JobKind
from proxyapi.rate_limiter import Priority

NOT_ALLOWED = "The owner of this API key may not do this in the team."
READERS: Mapping[str, tuple[Any, Collection[str]]] = {
    "usage": (rows.read_usage, TIME_PARAMS | {"person", "key", "label"}),
    "ledger": (rows.read_ledger, TIME_PARAMS | {"person", "label"}),
    "budgets": (rows.read_budgets, {"person", "label"}),
    "audit": (rows.read_audit, TIME_PARAMS | {"person"}),
}


@contextmanager
def refuse_forbidden() -> Iterator[None]:
    """Raise `GatewayRefusal` (403) for what the key's owner may not do."""
    try:
        yield
    except (Http404, PermissionDenied):
        raise GatewayRefusal(403, "GEN-FORBIDDEN", NOT_ALLOWED) from None


class PortalSite:
    """As `proxyapi.gateway.site.Site`."""

    def read_report(self, key: ApiKey, report: str, query: Mapping[str, str]) -> ReportPage:
        by, (read, params) = load_active_owner(key), READERS[report]
        with refuse_forbidden():
            page: ReportPage = read(by, parse_query(by, query, params))
        return page

    make_batch = staticmethod(refuse_forbidden()(batches.make_batch))
    list_batches = staticmethod(refuse_forbidden()(batches.list_batches))
    show_batch = staticmethod(refuse_forbidden()(batches.show_batch))
    change_batch = staticmethod(refuse_forbidden()(batches.change_batch))

    def import_job(self, key: ApiKey, kind: JobKind, upstream_id: str) -> tuple[Job, bool]:
        by = load_active_owner(key)
        token = PortalTeamRules().find_token(key) if key.token_id else None
        with refuse_forbidden():
            return import_video(
                by=by, kind=kind, upstream_id=upstream_id, token=token, priority=Priority.GATEWAY
            )
