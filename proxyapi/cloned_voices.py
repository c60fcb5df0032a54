"""Cloned voices of an account: its slots for them, and which of its voices a clone became.

`request_slot_read` makes the row of an account due; a worker reads it (`read_voice_slots`), and the
voices too after a clone was completed. The tick finds what no worker picked up (rule 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from proxyapi import calls, tokens
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.kinds.voice_clone import free_slot_count, slot_cost
from proxyapi.models import Account, ClonedVoice, JobKind, JobState, VoiceSlots
from proxyapi.operations import EVIDENCE_READS, ExecutionEvidence
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors, response_parsing

READ_SLOTS = EVIDENCE_READS[ExecutionEvidence.SLOTS]
PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a permit
SLOT_READ_RETRY = timedelta(seconds=20)


def request_slot_read(account: Account) -> None:
    """Have the slots read by a worker. The caller enqueues the task after commit."""
    VoiceSlots.objects.update_or_create(account=account, defaults={"due_at": timezone.now()})


def read_voice_slots(account_id: UUID) -> None:
    """Read the slots, and the account's voices if a clone was completed; an error is stored as a
    sentence, not raised."""
    row = VoiceSlots.objects.select_related("account").get(pk=account_id)
    account, requested_at = row.account, timezone.now()
    token = token_vault.first_decryptable(
        account.tokens.usable().select_related("account").order_by("state_since")
    )
    if token is None or row.due_at is None or not account.is_of_current_upstream:
        VoiceSlots.objects.filter(pk=row.pk).update(due_at=None)
        return
    try:
        reply = calls.call_upstream(token, READ_SLOTS, Priority.PERSON, patience=PERMIT_TIMEOUT_S)
        record = dict(response_parsing.as_mapping(reply.data))
        can_buy = record.get("can_buy")
        fields: dict[str, object] = {
            "available": free_slot_count(record),
            "can_buy": can_buy if isinstance(can_buy, bool) else None,
            "cost": slot_cost(record),
            "read_at": requested_at,
            "read_error": "",
            "due_at": None,
        }
        if row.reads_voices:
            tokens.refresh_account_profile(account)
            fields["reads_voices"] = False
    except RateLimitExhausted:
        fields = {"due_at": requested_at + SLOT_READ_RETRY}
    except errors.UpstreamError as error:
        due_at = requested_at + SLOT_READ_RETRY if row.reads_voices else None
        fields = {"read_error": error.user_message, "due_at": due_at}
    # A request since then is read for itself.
    VoiceSlots.objects.filter(pk=row.pk, due_at=row.due_at).update(**fields)
    store_withdrawn_voices(account)
    publish_event(account.tenant_id, EventType.ACCOUNT, account.pk)


def listed_voices(account: Account) -> dict[str, str]:
    """Return the names of the account's narration voices by id, as last read."""
    options, voices = response_parsing.as_mapping(account.options), {}
    for layer in (options, options.get("mandatory"), options.get("optional")):
        for item in response_parsing.as_mapping(layer).get("voices") or ():
            if isinstance(item, dict) and item.get("id") is not None:
                voices[str(item["id"])] = str(item.get("name") or item.get("label") or "").strip()
    return voices


def find_voice_id(clone: ClonedVoice, voices: Mapping[str, str]) -> str:
    """Return the id of the account's voice that the clone became; empty if none is, or if that
    cannot be told.

    Its own record names it, which the spec does not promise. Otherwise it is the only voice of its
    name that was not listed before it was created.
    """
    if clone.voice_id:
        return clone.voice_id if clone.voice_id in voices else ""
    same = [
        id
        for id, name in voices.items()
        if name == clone.job.title and id not in clone.known_voice_ids
    ]
    return same[0] if len(same) == 1 else ""


def cloned_voice_ids(account: Account, voices: Mapping[str, str]) -> dict[str, ClonedVoice]:
    """Return the account's finished clones by the id of their voice; one query.

    A clone whose id was lost with its answer is among them: only its voice shows that it is
    finished.
    """
    finished = Q(job__state=JobState.COMPLETED) | Q(job__charges__unidentified_at__isnull=False)
    clones = ClonedVoice.objects.filter(
        finished, job__account__in=Account.objects.same_upstream_account(account.pk)
    )
    rows = clones.filter(job__kind=JobKind.CLONE).select_related("job").distinct()
    found = {find_voice_id(clone, voices): clone for clone in rows}
    return {voice_id: clone for voice_id, clone in found.items() if voice_id}


def store_withdrawn_voices(account: Account) -> None:
    """Store which voices may not be offered any more, for every team that uses the account."""
    for row in Account.objects.same_upstream_account(account.pk):
        clones = cloned_voice_ids(row, listed_voices(row))
        withdrawn = sorted(id for id, clone in clones.items() if clone.withdrawn_at)
        if withdrawn != row.withdrawn_voice_ids:
            Account.objects.filter(pk=row.pk).update(withdrawn_voice_ids=withdrawn)
