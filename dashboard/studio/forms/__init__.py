"""The forms of the studio: the quick start, one form per step, and a script request."""

from __future__ import annotations

from dashboard.studio.forms.new_draft import QuickStartForm
from dashboard.studio.forms.page_address import PageReadForm
from dashboard.studio.forms.step_forms import build_step_form
from dashboard.studio.forms.steps import StepForm
from dashboard.studio.forms.write_script import (
    PlannedRenderForm,
    WritePageScriptForm,
    WriteScriptForm,
)
