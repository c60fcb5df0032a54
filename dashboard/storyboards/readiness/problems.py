"""Why clips cannot be generated, or the film cannot be rendered, as a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.storyboards.readiness.clip_plan import PlannedClip
from dashboard.storyboards.readiness.film import FilmReadiness

NO_CLIP_CHOSEN = "None of these scenes can be generated now"
NO_LIST_PRICE = "The service’s list has no price for these settings"
CLIPS_RUNNING = (
    "Clips of this storyboard are being made, and this change sends the film anew. Wait until they "
    "have ended"
)
APPROVAL_PENDING = "A request for clips of this storyboard waits for an approval"
ALREADY_RENDERED = "The film is finished, and nothing changed since"
NO_PRICE = "There is no current price of the render"


def find_clips_problem(ready: FilmReadiness, chosen: Sequence[PlannedClip]) -> str:
    """Return an empty text if these clips can be requested."""
    if ready.is_rendering:
        return ready.lock.text
    if ready.orders.awaiting_approval:
        return APPROVAL_PENDING
    if not chosen:
        return NO_CLIP_CHOSEN
    if ready.plan.why_anew and ready.running:
        return CLIPS_RUNNING
    return "" if ready.plan.price_of(chosen) is not None else NO_LIST_PRICE


def find_render_problem(ready: FilmReadiness) -> str:
    """Return an empty text if the film can be rendered, at a price that is known."""
    if ready.is_rendering:
        return ready.lock.text
    if ready.plan.is_rendered:
        return ALREADY_RENDERED
    unmet = next((need for need in ready.needs if not need.is_met), None)
    if unmet is not None:
        return unmet.text
    return "" if ready.render.price is not None else NO_PRICE
