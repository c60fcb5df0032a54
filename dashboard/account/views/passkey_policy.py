"""Let the browser use passkeys on a page; the policy of other pages denies it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)


def allow_passkeys(
    view: Callable[Concatenate[R, P], HttpResponse],
) -> Callable[Concatenate[R, P], HttpResponse]:
    @wraps(view)
    def with_policy(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY_WITH_PASSKEYS
        return response

    return with_policy
