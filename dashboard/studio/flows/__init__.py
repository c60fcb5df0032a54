"""The creation flows of the studio, one module a video type: steps, settings, preconditions and
operations as data.

`FLOWS` has every flow by its type, in the order they are offered; `flow_of` answers the one of a
draft. A new type is a module here and a line in `FLOWS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.studio.flows.ai_visuals import AI_VISUALS
from dashboard.studio.flows.b_roll import B_ROLL
from dashboard.studio.flows.declaration import (
    Flow,
    FlowStep,
    OptionSetting,
    Precondition,
    StepSlug,
)
from proxyapi.models import Job

FLOWS: Mapping[str, Flow] = {flow.type: flow for flow in (AI_VISUALS, B_ROLL)}
DEFAULT_FLOW = AI_VISUALS


def flow_of(job: Job) -> Flow:
    """The flow of a draft; the first one while its type is none that the studio knows."""
    return FLOWS.get(str(job.chosen_settings.get("type")), DEFAULT_FLOW)


def has_flow(job: Job) -> bool:
    """Whether it was composed here, and the studio has steps for its kind."""
    is_known = any(flow.kind == job.kind for flow in FLOWS.values())
    return is_known and job.draft_or_none is not None


def settings_put_aside(job: Job, type_: str) -> list[OptionSetting]:
    """What is chosen in the draft and not offered for another type: its pages would show it to
    nobody, and it would be sent."""
    kept = FLOWS[type_].settings
    settings = flow_of(job).settings.values()
    return [it for it in settings if job.chosen_settings.get(it.name) and it.name not in kept]
