"""Voice clones. One is paid for when a slot is bought with it; the free slots are the evidence."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi.kinds.declaration import KindSpec, UpstreamRecord
from proxyapi.models import Account, Charge, ClonedVoice, Job, StoredFile, VoiceSlots
from proxyapi.models.account import amount_text
from proxyapi.operations import EVIDENCE_READS, ExecutionEvidence, JobKind, Operation, get_operation
from proxyapi.upstream import errors, response_parsing

CREATE_CLONE = "voice_clones.create"
BUY_SLOT_FIELD = "purchase_addon"
SLOT_TAKEN = "The free slot was used meanwhile. Nothing was sent."
SLOT_COSTS = " Another costs {cost} cr."
SLOTS_SOLD_OUT = "No slot is free, and the service sells no more. Nothing was sent."
SLOT_PRICE_CHANGED = "A slot costs {cost} cr now. Nothing was sent."


class SlotUnavailable(errors.UnsendableRequest):
    """The slots, read just before the send, do not allow what the person confirmed."""

    code = "SLOT-UNAVAILABLE"

    def __init__(self, operation: Operation, sentence: str) -> None:
        super().__init__(operation, sentence)
        self.sentence = sentence


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

    def check_before_send(self, charge: Charge, record: UpstreamRecord) -> None:
        """The free slot that was confirmed may be in use by now, or another one dearer."""
        if free_slot_count(record) != 0:
            return
        cost, buys = slot_cost(record), bool(charge.body.get(BUY_SLOT_FIELD))
        sentence = ""
        if record.get("can_buy") is False:
            sentence = SLOTS_SOLD_OUT
        elif not buys:
            cost_text = SLOT_COSTS.format(cost=amount_text(cost)) if cost is not None else ""
            sentence = SLOT_TAKEN + cost_text
        elif cost is not None and cost > charge.hold:
            sentence = SLOT_PRICE_CHANGED.format(cost=amount_text(cost))
        if sentence:
            raise SlotUnavailable(get_operation(charge.operation), sentence)

    @transaction.atomic
    def store_completion(self, job: Job, data: Any) -> None:
        """Store the voice's id if the record has one, delete the samples, and have the account's
        voices read again, among which it is now (pitfall 105)."""
        voice_id = self.resource_in(data).get("voice_id")
        named = {"voice_id": str(voice_id)} if response_parsing.is_resource_id(voice_id) else {}
        ClonedVoice.objects.update_or_create(job=job, defaults=named)
        StoredFile.objects.filter(job=job).delete()
        VoiceSlots.objects.update_or_create(
            account_id=job.account_id, defaults={"due_at": timezone.now(), "reads_voices": True}
        )
        Account.objects.filter(pk=job.account_id).update(refreshed_at=None)


def free_slot_count(record: UpstreamRecord) -> int | None:
    """The number of free slots; a flag counts as one or none."""
    available = record.get("available")
    return int(available) if isinstance(available, int) else None


def slot_cost(record: UpstreamRecord) -> Decimal | None:
    """The credits of another slot."""
    cost = response_parsing.parse_credit_amount(record.get("cost"))
    return cost if cost is not None and cost >= 0 else None


VOICE_CLONE = VoiceCloneKind(
    JobKind.CLONE,
    "voice",
    "",
    frozenset({"completed"}),
    media_url_key="preview_url",
    media_type="audio/mpeg",
    file_field="samples[]",
)
