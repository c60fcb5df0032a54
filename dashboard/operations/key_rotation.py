"""Rotate the encryption key online: start it, carry out its next batch, end it.

A worker carries out one batch for each task. Before it, it claims the rotation by one conditional
update; if it dies, the sweep gives the rest to another one when the lease has expired.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from dashboard.models import AuditAction, KeyRotation, KeyRotationState, Membership
from dashboard.shared import enqueue
from dashboard.shared.access import require_operator
from dashboard.shared.audit_log import record_audit_event, system_actor
from proxyapi.credentials import encryption, key_rotation
from proxyapi.credentials.key_rotation import RotationBatch
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal, StaleData

LEASE = timedelta(minutes=2)
MAX_UNREADABLE = 100
ONE_KEY = "Add a second key to ENCRYPTION_KEYS first, in front of the one in use."
NOTHING_LEFT = "Every secret is under the new key already."
RUNS_ALREADY = "A rotation is running already."
OTHER_KEYS = "The worker has other keys than the portal. Restart the workers, and rotate again."


def check_can_rotate() -> int:
    """Return how many secrets are under an old key. Raises `Refusal` if there is nothing to do."""
    if len(encryption.load_key_ring().keys) < 2:
        raise Refusal(ONE_KEY)
    if KeyRotation.objects.filter(state=KeyRotationState.RUNNING).exists():
        raise Refusal(RUNS_ALREADY)
    if not (count := key_rotation.count_secrets_under_old_keys()):
        raise Refusal(NOTHING_LEFT)
    return count


def start_key_rotation(*, by: Membership) -> KeyRotation:
    """Have workers encrypt every secret of the installation again. Raises `Refusal`."""
    require_operator(by.user)
    total, key_id = check_can_rotate(), encryption.load_key_ring().current_key_id
    try:
        with transaction.atomic():
            rotation = KeyRotation.objects.create(
                team=by.team, started_by=by.user, key_id=key_id, total=total
            )
            after = {"key": key_id, "secrets": total}
            record_audit_event(by, AuditAction.KEY_ROTATION_START, rotation.pk, after=after)
            enqueue.enqueue_after_commit(enqueue.ROTATE_KEYS_TASK, rotation.pk)
    except IntegrityError:  # somebody else started one at the same moment
        raise StaleData(RUNS_ALREADY) from None
    return rotation


def rotate_next_batch(rotation_id: int) -> bool:
    """Encrypt the next secrets again; return whether some are left. False without the lease."""
    now = timezone.now()
    due = KeyRotation.objects.filter(expired_lease(), pk=rotation_id)
    if not due.update(lease_until=now + LEASE):
        return False
    rotation = KeyRotation.objects.select_related("team").get(pk=rotation_id)
    if encryption.load_key_ring().current_key_id != rotation.key_id:
        end_rotation(rotation, OTHER_KEYS)
        return False
    batch = key_rotation.reencrypt_batch([id for id, _ in rotation.unreadable])
    save_batch(rotation, batch)
    if not batch.is_last and len(rotation.unreadable) < MAX_UNREADABLE:
        return True
    names = ", ".join(label for _, label in rotation.unreadable[:2])
    more = len(rotation.unreadable) - 2
    end_rotation(rotation, f"{names} and {more} more" if more > 0 else names)
    return False


def expired_lease() -> Q:
    """Rotations that no worker holds."""
    free = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    return free & Q(state=KeyRotationState.RUNNING)


def save_batch(rotation: KeyRotation, batch: RotationBatch) -> None:
    """Record what was done, and give the lease back."""
    rotation.unreadable = [*rotation.unreadable, *(list(one) for one in batch.unreadable)]
    KeyRotation.objects.filter(pk=rotation.pk).update(
        done=F("done") + batch.reencrypted, unreadable=rotation.unreadable, lease_until=None
    )
    publish_event(rotation.team.tenant_id, EventType.TOKEN, rotation.team_id)


@transaction.atomic
def end_rotation(rotation: KeyRotation, problem: str) -> None:
    """End it: stopped if there is a problem. Only the first of two workers records it."""
    state = KeyRotationState.STOPPED if problem else KeyRotationState.DONE
    running = KeyRotation.objects.filter(pk=rotation.pk, state=KeyRotationState.RUNNING)
    ended = {"state": state, "problem": problem[:200], "ended_at": timezone.now()}
    if not running.update(**ended, lease_until=None):
        return
    rotation.refresh_from_db(fields=["done"])
    record_audit_event(
        system_actor(rotation.team, "key rotation"),
        AuditAction.KEY_ROTATION_END,
        rotation.pk,
        after={"key": rotation.key_id, "secrets": rotation.done, "outcome": state.value},
        unreadable=[label for _, label in rotation.unreadable],
    )
    publish_event(rotation.team.tenant_id, EventType.TOKEN, rotation.team_id)
