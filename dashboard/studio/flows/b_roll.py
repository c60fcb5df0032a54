"""B-roll: stock footage matched to the script. It takes neither a genre nor an engine."""

from __future__ import annotations

from dashboard.studio.flows.declaration import Flow
from dashboard.studio.flows.faceless_steps import (
    CAPTIONS_STEP,
    REVIEW_STEP,
    SCRIPT_SET,
    SCRIPT_STEP,
    TYPE_STEP,
    VOICE_CHOSEN,
    VOICE_OFFERED,
    VOICE_STEP,
    visuals_step,
)

B_ROLL = Flow(
    type="b-roll",
    note="Stock footage cut to the words, read by a voice.",
    steps=(TYPE_STEP, SCRIPT_STEP, VOICE_STEP, visuals_step(), CAPTIONS_STEP, REVIEW_STEP),
    preconditions=(SCRIPT_SET, VOICE_CHOSEN, VOICE_OFFERED),
)
