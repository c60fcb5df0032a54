"""The creation flows of the studio, one module a video type: steps, settings, preconditions and
operations as data.

`FLOWS` has every flow by its type, in the order they are offered; `flow_of` answers the one of a
draft. A new type is a module here and a line in `FLOWS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.studio.flows.ai_visuals import AI_VISUALS
from dashboard.studio.flows.declaration import (
    Flow,
    FlowStep,
    OptionSetting,
    Precondition,
    StepSlug,
)
from proxyapi.models import Job

__all__ = [
    "DEFAULT_FLOW",
    "FLOWS",
    "Flow",
    "FlowStep",
    "OptionSetting",
    "Precondition",
    "StepSlug",
    "flow_of",
]

FLOWS: Mapping[str, Flow] = {flow.type: flow for flow in (AI_VISUALS,)}
DEFAULT_FLOW = AI_VISUALS


def flow_of(job: Job) -> Flow:
    """The flow of a draft; the first one while its type is none that the studio knows."""
    return FLOWS.get(str(job.wanted.get("type")), DEFAULT_FLOW)
