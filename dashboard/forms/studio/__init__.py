"""The forms of the studio: a new video, one form a step, and a script to be written."""

from __future__ import annotations

from dashboard.forms.studio.new import NewForm
from dashboard.forms.studio.steps import FORMS, StepForm
from dashboard.forms.studio.write import WriteForm

__all__ = ["FORMS", "NewForm", "StepForm", "WriteForm"]
