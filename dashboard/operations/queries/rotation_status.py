"""The newest rotation of the encryption key, and whether another one may start.

Only the operator of the installation sees it: it counts and names secrets of all teams.
"""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.models import KeyRotation, KeyRotationState, Membership
from dashboard.operations.key_rotation import (
    ONE_KEY,
    OTHER_KEYS,
    check_can_rotate,
)
from dashboard.shared.formatting import clock
from proxyapi.credentials import encryption
from proxyapi.refusals import Refusal

OPERATOR_ROTATES = "The operator of this installation rotates the keys."
UNREADABLE_TITLE = "A secret cannot be decrypted with any key."
UNREADABLE_TEXT = (
    "{names}. Put the missing key back into ENCRYPTION_KEYS, or replace the secret, and rotate "
    "again. All others are under the new key."
)
READY_TEXT = "Everything keeps working meanwhile. A restart goes on where it stopped."
STATE_WORDS = {
    KeyRotationState.RUNNING: "Rotating",
    KeyRotationState.DONE: "Rotated",
    KeyRotationState.STOPPED: "Stopped",
}
STATE_GLYPHS = {
    KeyRotationState.RUNNING: "running",
    KeyRotationState.DONE: "completed",
    KeyRotationState.STOPPED: "failed",
}


@dataclass(frozen=True, slots=True)
class RotationStatus:
    """`word` is empty without a rotation. `why_not` says why none can start now; `may_press`: the
    reader is the operator."""

    may_press: bool
    why_not: str = ""
    word: str = ""
    state: str = ""
    title: str = ""
    time: str = ""
    percent_done: float = 0
    problem: str = ""
    problem_text: str = ""

    @property
    def foot(self) -> str:
        return self.why_not or READY_TEXT


def load_rotation_status(reader: Membership) -> RotationStatus:
    """No query for members who do not operate the installation."""
    if not reader.user.is_superuser:
        return RotationStatus(may_press=False, why_not=OPERATOR_ROTATES)
    rotation = KeyRotation.objects.first()
    why_not = find_obstacle()
    if rotation is None:
        return RotationStatus(may_press=True, why_not=why_not)
    state, total = KeyRotationState(rotation.state), max(rotation.total, rotation.done)
    running = state is KeyRotationState.RUNNING
    is_other_keys = rotation.problem == OTHER_KEYS
    return RotationStatus(
        may_press=True,
        why_not=why_not,
        word=STATE_WORDS[state],
        state=STATE_GLYPHS[state],
        title=f"{rotation.done} of {total} secrets of the installation under {rotation.key_id}",
        time=f"started {clock(rotation.started_at)}" if running else clock(rotation.ended_at),
        percent_done=100 * rotation.done / total if total else 100.0,
        problem=OTHER_KEYS if is_other_keys else rotation.problem and UNREADABLE_TITLE,
        problem_text=""
        if is_other_keys
        else rotation.problem and UNREADABLE_TEXT.format(names=rotation.problem),
    )


def find_obstacle() -> str:
    """Return why no rotation can start, or ""."""
    try:
        check_can_rotate()
    except Refusal as refusal:
        return refusal.sentence
    except encryption.EncryptionError:
        return ONE_KEY
    return ""
