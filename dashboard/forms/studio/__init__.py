"""The forms of the studio: a new video, one form a step, and a script to be written."""

from __future__ import annotations

from dashboard.forms.studio.new import NewVideoForm
from dashboard.forms.studio.steps import STEP_FORMS, StepForm
from dashboard.forms.studio.write import WriteScriptForm

__all__ = ["STEP_FORMS", "NewVideoForm", "StepForm", "WriteScriptForm"]
