"""`Idempotency-Key`: the same key and request again get the first answer, and are not carried out
again (IETF draft-ietf-httpapi-idempotency-key-header).

The first request with a key inserts its row, so of many at once one goes on. A row whose request
ended without an answer, as its process was killed, is taken over after `ABANDONED_AFTER`, unless it
has a charge: then the charge tells the outcome.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone

from proxyapi.gateway.answers import GatewayRefusal, mark_replayed
from proxyapi.gateway.call import Call
from proxyapi.gateway.charging import RETRY_AFTER_S, repeat_answer
from proxyapi.gateway.threads import in_thread
from proxyapi.models import ApiKey, Charge, ChargeState, StoredAnswer
from proxyapi.pruning import delete_in_batches
from proxyapi.refusals import Refusal
from proxyapi.upstream.reply import Answer

HEADER = "idempotency-key"
MAX_KEY_CHARS = 255
ABANDONED_AFTER = timedelta(minutes=10)  # longer than the longest request
KEPT = timedelta(hours=48)
INVALID_KEY = f"An Idempotency-Key has 1 to {MAX_KEY_CHARS} printable ASCII characters."
OTHER_REQUEST = "This Idempotency-Key was used for another request. Nothing was sent."
STILL_RUNNING = "The first request with this Idempotency-Key is still running."


class Claim(NamedTuple):
    """The row of an idempotency key; with `answer` the request was carried out before."""

    stored_id: int
    answer: Answer | None = None


async def answer_once(
    call: Call, key: str | None, fingerprint: str, send: Callable[[int | None], Awaitable[Answer]]
) -> Answer:
    """Send the request, once for each idempotency key. `send` gets the row of its answer."""
    if key is None:
        return await send(None)
    check_idempotency_key(key)
    claimed = await in_thread(claim, call.key, key, fingerprint)
    if claimed.answer is not None:
        call.is_replayed = True
        return claimed.answer
    try:
        answer = await send(claimed.stored_id)
    except (GatewayRefusal, Refusal):
        await in_thread(forget, claimed.stored_id)
        raise
    if call.is_replayed:  # by its quote, whose charge has the answer
        await in_thread(forget, claimed.stored_id)
    else:
        await in_thread(keep_answer, claimed.stored_id, answer)
    return answer


def check_idempotency_key(text: str) -> None:
    if not 0 < len(text) <= MAX_KEY_CHARS or not (text.isascii() and text.isprintable()):
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", INVALID_KEY)


def claim(key: ApiKey, idempotency_key: str, fingerprint: str) -> Claim:
    """Begin a request, or return the answer of the one that had this key before.

    Raises `GatewayRefusal` for another request (422) and for one that is still running (409).
    """
    try:
        with transaction.atomic():
            row = StoredAnswer.objects.create(
                key=key, idempotency_key=idempotency_key, fingerprint=fingerprint
            )
    except IntegrityError:
        row = StoredAnswer.objects.select_related("charge").get(
            key=key, idempotency_key=idempotency_key
        )
        return claim_again(row, fingerprint)
    return Claim(row.pk)


def claim_again(row: StoredAnswer, fingerprint: str) -> Claim:
    if row.fingerprint != fingerprint:
        raise GatewayRefusal(422, "IDEMPOTENCY-KEY-REUSED", OTHER_REQUEST)
    if row.charge is not None and (answer := repeat_answer(row.charge)) is not None:
        return Claim(row.pk, answer)
    if row.status is not None:
        return Claim(row.pk, mark_replayed(Answer(row.status, row.headers, bytes(row.body))))
    if row.charge is None and take_over(row):
        return Claim(row.pk)
    headers = {"retry-after": RETRY_AFTER_S}
    raise GatewayRefusal(409, "IDEMPOTENCY-KEY-IN-USE", STILL_RUNNING, headers=headers)


def take_over(row: StoredAnswer) -> bool:
    """Whether the request of this row is carried on here: the process that began it is dead."""
    now = timezone.now()
    abandoned = StoredAnswer.objects.filter(
        pk=row.pk, status=None, charge=None, created_at__lt=now - ABANDONED_AFTER
    )
    return bool(abandoned.update(created_at=now))


def keep_answer(stored_id: int, answer: Answer) -> None:
    """Keep the answer of a free request. That of a charge is kept when it arrives, or told by the
    charge."""
    StoredAnswer.objects.filter(pk=stored_id, charge=None).update(
        status=answer.status, headers=dict(answer.headers), body=answer.body
    )


def forget(stored_id: int) -> None:
    """Nothing was sent: the same key may be used again."""
    StoredAnswer.objects.filter(pk=stored_id, charge=None).delete()
    unsent = Charge.objects.filter(answer=stored_id, state=ChargeState.REFUSED, sent_at=None)
    StoredAnswer.objects.filter(pk=stored_id, charge__in=unsent).delete()


def prune_stored_answers() -> int:
    """Delete rows after two days; return how many."""
    return delete_in_batches(StoredAnswer.objects.filter(created_at__lt=timezone.now() - KEPT))
