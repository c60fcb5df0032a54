"""Voice clones. One is paid for when a slot is bought with it: what shows it are the free slots."""

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
        was, now = before.get("available"), free_slot_count(record)
        return was is not None and now is not None and now < was

    def is_debit_enough(self, operation: Operation, before: UpstreamRecord) -> bool:
        """A slot that is bought and taken leaves as many as before: none."""
        return not before.get("available")


def free_slot_count(record: UpstreamRecord) -> int | None:
    """How many are free; a flag counts as one or none."""
    available = record.get("available")
    return int(available) if isinstance(available, int) else None


VOICE_CLONE = VoiceCloneKind(
    JobKind.CLONE,
    "",
    frozenset({"completed"}),
    media_url_key="preview_url",
    media_type="audio/mpeg",
)
