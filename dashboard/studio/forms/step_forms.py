"""The forms of single steps, and the choice of a step's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows import SettingControl, StepSlug, flow_of
from dashboard.studio.forms.clip_engines import ClipEngineForm
from dashboard.studio.forms.fields import ScriptField
from dashboard.studio.forms.steps import StepForm
from dashboard.studio.forms.video_type import TypeForm
from proxyapi.models import Job


class ScriptForm(StepForm):
    script = ScriptField(required=True, rows=14)


# Steps with other fields than settings.
FORM_OVERRIDES: Mapping[StepSlug, type[StepForm]] = {
    StepSlug.TYPE: TypeForm,
    StepSlug.SCRIPT: ScriptForm,
    StepSlug.SOURCE: ScriptForm,
}


def build_step_form(
    job: Job,
    slug: StepSlug,
    options: FacelessOptions,
    data: Any = None,
    *,
    is_partial: bool = False,
) -> StepForm:
    """Return the form of a step of the draft's flow; raise `KeyError` if the flow has no such
    step."""
    step = flow_of(job).steps_by_slug[slug]
    has_engines = any(setting.control == SettingControl.ENGINES for setting in step.settings)
    form = ClipEngineForm if has_engines else FORM_OVERRIDES.get(slug, StepForm)
    return form(job, step, options, data, is_partial=is_partial)
