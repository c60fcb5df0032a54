"""Error reports, including Django's debug page, that redact secrets even if DEBUG is on.

Django's own filter is inactive while DEBUG is on, and the page would then quote a token from a
form.
"""

from __future__ import annotations

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class AlwaysRedactingFilter(SafeExceptionReporterFilter):
    def is_active(self, request: HttpRequest | None) -> bool:
        return True
