"""What every page knows: the shell around it where there is a team, else how this installation is
run. The shell is only asked for where a template shows it: a fragment costs nothing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from dashboard.shared.shell import build_app_shell


def shell_context(request: HttpRequest) -> dict[str, Any]:
    membership = getattr(request, "membership", None)
    if membership is None:
        sandbox = settings.VIDEO_API_IS_SANDBOX
        return {"sandbox": sandbox, "demo": sandbox and (settings.VAR / "demo.json").is_file()}
    return {"shell": SimpleLazyObject(lambda: build_app_shell(membership))}
