"""Forms of storyboards."""

from __future__ import annotations

from dashboard.storyboards.forms.scene import FrameForm, SceneForm
