"""The forms of the studio: a new video, one form a step, and a script to be written."""

from __future__ import annotations

from dashboard.studio.forms.new_draft import NewVideoForm
from dashboard.studio.forms.steps import STEP_FORMS, StepForm
from dashboard.studio.forms.write_script import WriteScriptForm

__all__ = ["STEP_FORMS", "NewVideoForm", "StepForm", "WriteScriptForm"]
