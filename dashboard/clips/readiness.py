"""Whether a draft of a clip can still be composed, and what it lacks to be generated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Q

from dashboard.shared.clip_models import ClipModel, fit_settings
from proxyapi.kinds import MAX_PROMPT_WORDS, MIN_PROMPT_WORDS, OPTION_FIELDS
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.models.duration_class import count_words

SENT_CONDITION = Q(state__in=(*HOLDING_STATES, ChargeState.DRAFT)) | Q(
    unidentified_at__isnull=False
)
SENT_CHARGE = Exists(Charge.objects.filter(SENT_CONDITION, job=OuterRef("pk")))
MODEL_GONE = "The chosen model is not in your plan now. Choose another one."
VALUE_GONE = "{model} does not offer {value} now. Choose again."


def is_composable(job: Job) -> bool:
    """True if nothing was sent for the draft, and nothing is about to be. A draft whose clip was
    paid for and not identified stays as it was sent. Two queries, none if `is_sent` is
    annotated."""
    if job.state != JobState.DRAFT or job.draft_or_none is None:
        return False
    is_sent: bool | None = getattr(job, "is_sent", None)
    if is_sent is None:
        return not job.charges.filter(SENT_CONDITION).exists() and not job.has_changed_state()
    return not is_sent


def find_unmet(chosen: Mapping[str, Any], model: ClipModel | None) -> str:
    """Return the first thing that the settings lack, as a sentence; empty if they lack nothing."""
    checks = (find_prompt_problem(chosen.get("prompt")), find_model_problem(chosen, model))
    return next(filter(None, (*checks, find_reference_problem(chosen, model))), "")


def find_prompt_problem(prompt: object) -> str:
    words = count_words(str(prompt or ""))
    if words < MIN_PROMPT_WORDS:
        missing = MIN_PROMPT_WORDS - words
        rest = "One is missing." if missing == 1 else f"{missing} are missing."
        return f"Write at least {MIN_PROMPT_WORDS} words. {rest}"
    if words > MAX_PROMPT_WORDS:
        over, most = words - MAX_PROMPT_WORDS, f"{MAX_PROMPT_WORDS:,}"
        many = "1 word" if over == 1 else f"{over:,} words"
        return f"The prompt is {many} too long. The service takes {most}."
    return ""


def find_model_problem(chosen: Mapping[str, Any], model: ClipModel | None) -> str:
    if model is None:
        return MODEL_GONE
    changed = fit_settings(model, chosen).changed
    offered = {menu.name for menu in model.menus}
    surplus = (
        str(chosen[name]) for name in OPTION_FIELDS if chosen.get(name) and name not in offered
    )
    gone = next(iter(changed.values()), "") or next(surplus, "")
    return VALUE_GONE.format(model=model.name, value=gone) if gone else ""


def find_reference_problem(chosen: Mapping[str, Any], model: ClipModel | None) -> str:
    needed = (slot for slot in model.slots if slot.is_required) if model else ()
    missing = next((slot for slot in needed if not chosen.get(slot.name)), None)
    if model is None or missing is None:
        return ""
    article = "an" if missing.label[0] in "AEIOU" else "a"
    return f"{model.name} needs {article} {missing.label.lower()}. Add one."
