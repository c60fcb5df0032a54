"""The writing of scenes: the price question before it, and how it goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.storyboards.scene_states import SceneRow, load_scene_rows
from dashboard.shared.storyboards.scene_writing import MAX_WRITTEN_SCENES
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.storyboards.queries.writing_price import build_writing_price
from dashboard.storyboards.readiness.writing import find_writing_problem, load_last_writing
from proxyapi.kinds import UNREAD_WRITING_KEY, WRITING_OPERATION
from proxyapi.models import Charge, ChargeState, Storyboard
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.models.job_part import PartState

DESCRIPTION_TEMPLATE = "storyboards/_writing_description.html"
NOTICE = (
    "A description that the service refuses costs nothing. You edit the scenes before any clip is "
    "made."
)
LOST_TEXT = (
    "Nothing was sent again. If the service wrote them, they appear here by themselves; if it "
    "charged, the ledger shows it."
)
LOST_TITLE = "We do not know whether the scenes were written."
REFUSED_TITLE = "The scenes were not written."
WAITING_TITLE = "The writing of the scenes waits for an approval."
NOTHING_CHARGED = "Nothing was charged. Your description is kept."
MIN_KNOWN_DURATIONS, MAX_KNOWN_DURATIONS = 3, 20


@dataclass(frozen=True, slots=True)
class SceneWriting:
    """`state`: running, waiting (for an approval), unknown or refused. `places`: one per scene that
    is awaited; `usual` such as `usually 10 to 30 s`."""

    state: str
    title: str
    text: str
    places: range
    elapsed_s: int
    usual: str
    replaces: bool

    @property
    def glyph(self) -> str:
        return "failed" if self.state == "refused" else self.state


def load_scene_writing(storyboard: Storyboard) -> SceneWriting | None:
    """Return how the writing of the scenes goes; None if none is open, and none was refused since
    the last edit. One query, two while it runs."""
    charge = load_last_writing(storyboard)
    state = find_writing_state(storyboard, charge) if charge else ""
    if charge is None or not state:
        return None
    count = int(charge.body.get("scenes") or storyboard.scene_count or MAX_WRITTEN_SCENES)
    titles = {"unknown": LOST_TITLE, "refused": REFUSED_TITLE, "waiting": WAITING_TITLE}
    return SceneWriting(
        state=state,
        title=titles.get(state, f"Writing {count} scene{'' if count == 1 else 's'}"),
        text=writing_text(charge, state),
        places=range(1, count + 1),
        elapsed_s=int((timezone.now() - charge.created_at).total_seconds()),
        usual=usual_duration_text(charge) if state == "running" else "",
        replaces=storyboard.scenes.exists(),
    )


def find_writing_state(storyboard: Storyboard, charge: Charge) -> str:
    """Return "" for a writing that is over."""
    match ChargeState(charge.state):
        case ChargeState.DRAFT:
            return "waiting"
        case ChargeState.HELD | ChargeState.SENDING:
            return "running"
        case ChargeState.UNKNOWN if charge.applied_at is None:
            return "unknown"
        case ChargeState.REFUSED:
            return "refused" if is_after_last_edit(storyboard, charge.settled_at) else ""
    draft = charge.job.draft_or_none if charge.job else None
    is_unread = draft is not None and UNREAD_WRITING_KEY in draft.sent_settings
    return "running" if is_unread else ""  # they are written, and read with the next record


def is_after_last_edit(storyboard: Storyboard, at: datetime | None) -> bool:
    return at is not None and at >= storyboard.edited_at


def writing_text(charge: Charge, state: str) -> str:
    if state == "refused":
        said = charge.reason.strip()
        return f"{said} {NOTHING_CHARGED}" if said else NOTHING_CHARGED
    return LOST_TEXT if state == "unknown" else ""


def usual_duration_text(charge: Charge) -> str:
    """Return how long the last ones took, if enough are known."""
    past = Charge.objects.filter(
        account=charge.account_id, operation=WRITING_OPERATION, state__in=CHARGED_STATES
    )
    ended = past.filter(lost_at=None, sent_at__isnull=False, applied_at__isnull=False)
    rows = ended.order_by("-sent_at").values_list("sent_at", "applied_at")[:MAX_KNOWN_DURATIONS]
    spans = [end - start for start, end in rows if start and end]
    seconds = [max(1, round(span.total_seconds())) for span in spans]
    if len(seconds) < MIN_KNOWN_DURATIONS:
        return ""
    low, high = min(seconds), max(seconds)
    return f"usually {low} s" if low == high else f"usually {low} to {high} s"


def build_writing_question(
    storyboard: Storyboard,
    reader: Membership,
    *,
    has_fields: bool = False,
) -> PriceQuestion:
    """`has_fields`: the description and the number of scenes can be changed in the question. A
    refused form keeps its key: it charged nothing and cannot charge twice."""
    price = build_writing_price(storyboard.account, reader)
    rows = load_scene_rows(storyboard)
    count = storyboard.scene_count
    label = "Write the scenes" if has_fields else f"Write {count} scene{'' if count == 1 else 's'}"
    problems = (find_writing_problem(storyboard), credit_shortfall_text(price.credit_check))
    texts: dict[str, Any] = {"heading": "Write the scenes again?" if rows else f"{label}?"}
    return PriceQuestion(
        label=label,
        title=storyboard.title,
        summary=replaced_text(rows),
        price=price.price,
        price_note=price.note,
        credit_check=price.credit_check,
        budget=price.budget,
        unmet=tuple(filter(None, problems)),
        choices_template=DESCRIPTION_TEMPLATE,
        notice=NOTICE,
        url=reverse("storyboard-writing", args=[storyboard.pk]),
        cancel_url=writing_cancel_url(storyboard, rows),
        **texts,
    )


def writing_cancel_url(storyboard: Storyboard, rows: tuple[SceneRow, ...]) -> str:
    """Return the editor's URL, or that of the form of a storyboard without scenes."""
    if rows or load_last_writing(storyboard):
        return reverse("storyboard", args=[storyboard.pk])
    return f"{reverse('new-storyboard')}?storyboard={storyboard.pk}"


def replaced_text(rows: tuple[SceneRow, ...]) -> str:
    """Return a text such as `This replaces 8 scenes. 3 have clips that were paid for; they stay in
    the library.`"""
    if not rows:
        return ""
    scenes = "1 scene" if len(rows) == 1 else f"{len(rows)} scenes"
    clips = sum(row.clip is not None and row.clip.state == PartState.COMPLETED for row in rows)
    if not clips:
        return f"This replaces {scenes}."
    have, they = (
        ("1 has a clip", "it stays") if clips == 1 else (f"{clips} have clips", "they stay")
    )
    paid = "that was paid for" if clips == 1 else "that were paid for"
    return f"This replaces {scenes}. {have} {paid}; {they} in the library."
