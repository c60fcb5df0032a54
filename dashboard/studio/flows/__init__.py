"""The creation flows of the studio, one module per video type: steps, settings, preconditions and
operations as data.

`FLOWS` has every flow by its type, in the order they are offered. A new type is a module here and a
line in `FLOWS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.studio.flows.ai_clips import AI_CLIPS, chosen_combination, find_clip_problem
from dashboard.studio.flows.ai_visuals import AI_VISUALS
from dashboard.studio.flows.b_roll import B_ROLL
from dashboard.studio.flows.declaration import (
    Flow,
    FlowStep,
    OptionSetting,
    Precondition,
    SettingControl,
    SettingSection,
    StepSlug,
)
from proxyapi.models import Job

FLOWS: Mapping[str, Flow] = {flow.type: flow for flow in (AI_VISUALS, AI_CLIPS, B_ROLL)}
DEFAULT_FLOW = AI_VISUALS


def flow_of(job: Job) -> Flow:
    """Return the flow of a draft; the default flow if the studio does not know its type."""
    return FLOWS.get(str(job.chosen_settings.get("type")), DEFAULT_FLOW)


def settings_put_aside(job: Job, type_: str) -> list[OptionSetting]:
    """Return the settings of the draft that another type does not offer. Its steps would not show
    them, but they would be sent."""
    offered = FLOWS[type_].settings
    known = {name: setting for flow in FLOWS.values() for name, setting in flow.settings.items()}
    return [
        setting
        for name, setting in known.items()
        if job.chosen_settings.get(name) and name not in offered
    ]
