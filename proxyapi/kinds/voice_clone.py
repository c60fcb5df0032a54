"""Voice clones. One is paid for when a slot is bought with it; the free slots are the evidence."""

from __future__ import annotations

from typing import Any

from proxyapi.kinds.declaration import KindSpec, UpstreamRecord
from proxyapi.models import Charge
from proxyapi.operations import EVIDENCE_READS, ExecutionEvidence, JobKind, Operation


class VoiceCloneKind(KindSpec):
    def evidence_read(self, charge: Charge) -> tuple[str, dict[str, Any]]:
        return EVIDENCE_READS[ExecutionEvidence.SLOTS], {}

    def snapshot(self, operation: Operation, record: UpstreamRecord) -> UpstreamRecord:
        return {"available": free_slot_count(record)}

    def proves(self, operation: Operation, before: UpstreamRecord, record: UpstreamRecord) -> bool:
        free_before, free_now = before.get("available"), free_slot_count(record)
        return free_before is not None and free_now is not None and free_now < free_before

    def is_debit_enough(self, operation: Operation, before: UpstreamRecord) -> bool:
        """True without free slots: buying and using one leaves none, as before."""
        return not before.get("available")


def free_slot_count(record: UpstreamRecord) -> int | None:
    """The number of free slots; a flag counts as one or none."""
    available = record.get("available")
    return int(available) if isinstance(available, int) else None


VOICE_CLONE = VoiceCloneKind(
    JobKind.CLONE,
    "",
    frozenset({"completed"}),
    media_url_key="preview_url",
    media_type="audio/mpeg",
)
