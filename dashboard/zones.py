"""The team's time zone: what `clock` and `day` write in it while a view of the team answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse
from django.utils import timezone

from dashboard.http import TeamRequest

P = ParamSpec("P")
View = Callable[Concatenate[TeamRequest, P], HttpResponse]


def in_team_zone(view: View[P]) -> View[P]:
    @wraps(view)
    def answered(request: TeamRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        with timezone.override(request.team.vault.zone):
            return view(request, *args, **kwargs)

    return answered
