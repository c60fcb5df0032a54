"""From a web page: the images of an article or a product page, with a script from it or an own
one. Its type is fixed when the service creates the draft (spec, URL-based flow)."""

from __future__ import annotations

from dataclasses import replace

from dashboard.studio.flows.declaration import Flow, FlowStep, Precondition, StepSlug
from dashboard.studio.flows.faceless_steps import (
    BACKGROUND,
    CAPTIONS_STEP,
    REVIEW_STEP,
    SCRIPT_SET,
    TYPE_STEP,
    VOICE_CHOSEN,
    VOICE_OFFERED,
    VOICE_STEP,
    visuals_step,
)

SOURCE_STEP = FlowStep(
    StepSlug.SOURCE, "Source", needs="a web page and a script", template="studio/steps/source.html"
)
FROM_WEB_PAGE = Flow(
    type="url-based",
    note="The images of a web page with a script, read by a voice.",
    steps=(
        TYPE_STEP,
        SOURCE_STEP,
        VOICE_STEP,
        visuals_step(BACKGROUND),
        CAPTIONS_STEP,
        REVIEW_STEP,
    ),
    preconditions=(
        Precondition(
            "assets",
            "web page",
            "Images from the page",
            "Read the images of a web page",
            StepSlug.SOURCE,
            "Read it",
        ),
        replace(SCRIPT_SET, step=StepSlug.SOURCE),
        VOICE_CHOSEN,
        VOICE_OFFERED,
    ),
    script_operation="faceless.scrape_script",
)
