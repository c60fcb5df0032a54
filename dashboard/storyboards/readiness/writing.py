"""Whether the service writes the scenes of a storyboard, or may be asked to."""

from __future__ import annotations

from dashboard.shared.job_question import NOT_WORKING_TEXT, UNREADABLE_TEXT
from proxyapi.credentials import token_vault
from proxyapi.kinds import WRITING_OPERATION
from proxyapi.models import Charge, JobState, Storyboard, TokenState

NO_DESCRIPTION = "Describe the film first."
BUSY_WRITING = "The scenes are being written, or wait for an approval. Nothing was sent twice."
BUSY_CLIPS = "Clips or the film are being made. Write the scenes when they are there."


def load_last_writing(storyboard: Storyboard) -> Charge | None:
    """Return the last request to write the scenes; one query."""
    charges = Charge.objects.filter(
        operation=WRITING_OPERATION, job__storyboard_copy__storyboard=storyboard
    )
    return charges.select_related("job__draft", "member").order_by("-created_at", "-pk").first()


def has_scenes_or_writing(storyboard: Storyboard) -> bool:
    """True if it has scenes, or the service was asked to write them: it is no form any more."""
    return storyboard.scenes.exists() or load_last_writing(storyboard) is not None


def find_writing_problem(storyboard: Storyboard) -> str:
    """Return why the service cannot be asked to write scenes now; empty if it can. One query, two
    if a charge is open."""
    token, account = storyboard.token, storyboard.account
    if account.pause_reason:
        return account.pause_reason
    if not token_vault.can_decrypt(token):
        return UNREADABLE_TEXT
    if token.state != TokenState.WORKING:
        return NOT_WORKING_TEXT
    if storyboard.copy is not None and storyboard.copy.state == JobState.RUNNING:
        return BUSY_CLIPS
    charges = Charge.objects.open().filter(job__storyboard_copy__storyboard=storyboard)
    names = set(charges.values_list("operation", flat=True))
    if not names:
        return ""
    return BUSY_WRITING if WRITING_OPERATION in names else BUSY_CLIPS
