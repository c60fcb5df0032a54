"""The forms of the studio: a new video, one form a step, and a script to be written."""

from __future__ import annotations

from dashboard.studio.forms.new_draft import NewVideoForm
from dashboard.studio.forms.steps import StepForm, build_step_form
from dashboard.studio.forms.write_script import WriteScriptForm
