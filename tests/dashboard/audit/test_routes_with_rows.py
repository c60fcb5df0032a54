"""Every route that takes a form writes into the audit log, or says here why it does not.

The code that each view can reach is read, not run: a route whose code never names the function that
writes a row is found. Whether it is written at the right moment is tested beside each action.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from dashboard.shared.audit_log import record_audit_event
from tests.dashboard.shared.routes import ROUTES

WITHOUT_ROW = {
    "account-app-cancellations": "nothing was set up",
    "alerts-read": "what its reader has seen",
    "clip-price": "asks for a price",
    "confirmations": "a refused one is recorded",
    "getting-started-hide": "how a page looks to its reader",
    "idea-refreshes": "reads at the service",
    "passkey-names": "a name that its person alone sees",
    "preset-comparisons": "reads at the service",
    "preset-defaults": "a choice of one person for drafts of theirs",
    "session": "asks whether the session is there",
    "sso-tests": "recorded when the browser is back from the provider",
    "storyboard-frame": "content while it is edited",
    "storyboard-presence": "who looks at it now",
    "storyboard-scene": "content while it is edited",
    "studio-price": "asks for a price",
    "studio-reading": "reads a web page again",
    "token-names": "a name for people; the token stays as it is",
    "team": "which team the session shows",
    "theme": "how pages look to their reader",
    "two-factor-reminders": "the notice itself is kept",
    "voice-favourites": "a choice of one person",
    "voice-slots": "reads at the service",
}


def views_by_name(patterns: Any) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from views_by_name(pattern.url_patterns)
        elif isinstance(pattern, URLPattern):
            yield str(pattern.name), pattern.callback


def called_by(function: FunctionType) -> Iterator[Any]:
    """Yield what the code of a function names, as far as it is of this project."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [one for one in code.co_consts if inspect.iscode(one)]
        found = [function.__globals__.get(name) for name in code.co_names]
        modules = [one for one in found if isinstance(one, ModuleType)]
        found += [getattr(one, name, None) for one in modules for name in code.co_names]
        cells = function.__closure__ or ()
        found += [cell.cell_contents for cell in cells if cell.cell_contents is not None]
        for one in found:
            module = getattr(one, "__module__", "") or ""
            if module.partition(".")[0] in ("dashboard", "proxyapi"):
                yield from vars(one).values() if inspect.isclass(one) else [one]


def writes_row(view: Any) -> bool:
    # A view of a class is wrapped where its `dispatch` is. Of its bases those beside it count: the
    # frame of all dialogs records refused confirmations.
    cls = getattr(view, "view_class", None)
    bases = [one for one in cls.__mro__ if one.__module__ == cls.__module__] if cls else []
    methods = {name: one for base in reversed(bases) for name, one in vars(base).items()}
    seen, waiting = set(), list(methods.values()) if cls else [view]
    while waiting:
        one = waiting.pop()
        one = inspect.unwrap(one) if callable(one) else one
        if one is record_audit_event:
            return True
        if isinstance(one, FunctionType) and one not in seen:
            seen.add(one)
            waiting += called_by(one)
    return False


def test_a_route_that_takes_a_form_writes_a_row_or_says_why_not() -> None:
    views = dict(views_by_name(get_resolver().url_patterns))
    posted = {name for name, route in ROUTES.items() if route.post is not None}
    silent = {name for name in posted if not writes_row(views[name])}
    assert silent == set(WITHOUT_ROW)
