"""The creation flows of the studio, one module per video type: steps, settings, preconditions and
operations as data.

`FLOWS` has every flow by its type, in the order they are offered. A new type is a module here and a
line in `FLOWS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.shared.video_options import account_options
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
from dashboard.studio.flows.faceless_steps import FORMAT
from dashboard.studio.flows.url_based import FROM_WEB_PAGE
from proxyapi.kinds.page_reading import URL_BASED
from proxyapi.models import Job

ALL_FLOWS = (AI_VISUALS, AI_CLIPS, B_ROLL, FROM_WEB_PAGE)
FLOWS: Mapping[str, Flow] = {flow.type: flow for flow in ALL_FLOWS}
DEFAULT_FLOW = AI_VISUALS


def flow_of(job: Job) -> Flow:
    """Return the flow of a draft; the default flow if the studio does not know its type."""
    return FLOWS.get(str(job.chosen_settings.get("type")), DEFAULT_FLOW)


def lacks_priced_choice(job: Job) -> bool:
    """True if the service would price something else than the member will choose: no clip engine is
    chosen although it offers some."""
    chosen = job.chosen_settings
    missing = [
        need.field
        for need in flow_of(job).preconditions
        if need.only_if_offered and not chosen.get(need.field)
    ]
    return any(map(account_options(job.account).choices, missing)) if missing else False


def settings_put_aside(job: Job, type_: str) -> list[OptionSetting]:
    """Return the settings of the draft that another type does not offer, and the format if it
    cannot make it. Its steps would not show them, but they would be sent."""
    flow, chosen = FLOWS[type_], job.chosen_settings
    known = {name: setting for flow in FLOWS.values() for name, setting in flow.settings.items()}
    kept = {name: value for name, value in chosen.items() if name in flow.settings}
    ratio = str(chosen.get(FORMAT.name) or "")
    drops_format = ratio and not flow.makes_format(ratio, kept, account_options(job.account))
    return [
        setting
        for name, setting in known.items()
        if chosen.get(name)
        and (name not in flow.settings or (name == FORMAT.name and drops_format))
    ]


def type_refusal(job: Job, type_: str) -> str:
    """Return why a draft cannot become of this type; empty if it can. The service fixes at the
    creation whether a video is made from a web page (spec, Faceless videos, rule 1)."""
    flow = flow_of(job)
    if job.remote_id is None or type_ == flow.type or URL_BASED not in (type_, flow.type):
        return ""
    if flow.type == URL_BASED:
        return "The service fixed this type when the draft was created."
    return f"This draft is {flow.label} at the service. Start a new draft from a page."
