"""What proves a search for ideas, under the names of a kind's evidence: it makes no job."""

from __future__ import annotations

from typing import Any

from proxyapi.kinds import UpstreamRecord
from proxyapi.models import Charge
from proxyapi.operations import EVIDENCE_READS, ExecutionEvidence, Operation


class IdeaSearchEvidence:
    def evidence_read(self, charge: Charge) -> tuple[str, dict[str, Any]]:
        """The newest ideas of the same search (spec, Limits: this list before anything else)."""
        search = {name: str(charge.body.get(name, "")) for name in ("keyword", "network")}
        query = {**search, "sort": "-created_at", "per_page": 50}
        return EVIDENCE_READS[ExecutionEvidence.IDEAS], {"query": query}

    def resource_in(self, data: Any) -> UpstreamRecord:
        rows = data if isinstance(data, list) else []
        return {"ideas": [row for row in rows if isinstance(row, dict)]}

    def snapshot(self, operation: Operation, record: UpstreamRecord) -> UpstreamRecord:
        return {"ideas": idea_ids(record)}

    def proves(self, operation: Operation, before: UpstreamRecord, record: UpstreamRecord) -> bool:
        return bool(set(idea_ids(record)) - set(before.get("ideas", [])))

    def is_debit_enough(self, operation: Operation, before: UpstreamRecord) -> bool:
        """A search that was made before charges again and need not find anything new (pitfall
        35)."""
        return bool(before.get("ideas"))


def idea_ids(record: UpstreamRecord) -> list[str]:
    return sorted(str(row.get("id")) for row in record.get("ideas", []))
