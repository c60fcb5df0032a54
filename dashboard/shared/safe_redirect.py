"""Where somebody comes back to: after signing in, or after a choice of their own."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme

# Addresses that only a form sends to, and the page that has the form. A refused one is shown at
# such an address, so it may be what somebody comes from.
FORM_PAGES = {
    "alert-rules": "alerts",
    "alert-tests": "alerts",
    "alert-webhook": "alerts",
    "alert-webhook-removals": "alerts",
    "budget-removals": "budgets",
    "charge-checks": "reconciliation",
    "credit-pack-removals": "top-up",
    "credit-packs": "top-up",
    "drafts": "studio",
    "member-roles": "members",
    "alerts-read": "alerts-unread",
    "session": "overview",
    "team": "overview",
    "team-time-zone": "members",
    "theme": "overview",
    "video-checks": "library",
    "video-restorations": "library",
}


def safe_return_path(request: HttpRequest, page: str) -> str:
    """The path and the query of a page of this site, by its address; of any other the start page.

    Never an address that only a form sends to.
    """
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure()):
        return "/"
    path = urlsplit(page)._replace(scheme="", netloc="", fragment="").geturl()
    # `//somewhere` behind our own host would be another host by itself.
    if not path.startswith("/") or not url_has_allowed_host_and_scheme(path, None):
        return "/"
    try:
        name = resolve(urlsplit(path).path).url_name
    except Resolver404:
        return path
    return reverse(FORM_PAGES[name]) if name in FORM_PAGES else path
