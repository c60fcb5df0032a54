"""A new sign-in at the provider that confirms who somebody is, who has no password.

The values of the form that asked for it wait in the session, and are taken out once when its page
is shown again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.core.internal import ratelimit
from django.contrib import messages
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from dashboard.models import AuditAction, Membership, SingleSignOn, SingleSignOnLink
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.http import TeamRequest
from dashboard.shared.openid.authorization import PendingAuthorization, start_authorization
from dashboard.shared.openid.code_exchange import ProviderIdentity, identify_person
from dashboard.shared.openid.errors import SingleSignOnFailed
from dashboard.shared.openid.session_teams import SINGLE_SIGN_ON_METHOD

# Failed attempts of a person, whichever way they confirm.
ATTEMPTS: dict[str, Any] = {
    "app": "recent_authentication",
    "action": "failed",
    "config": {"failed": "5/5m/user"},
}
KEPT_FORM_SESSION_KEY = "confirmed_form"
MAX_KEPT_CHARS = 20_000
REFUSED_RECORD_INTERVAL_S = 300  # for the same refusal of one member
CONTINUE_TEMPLATE = "single_sign_on/continue.html"
CONFIRMED = "You confirmed with {host} that it is you."
CONFIRMED_BEFORE_PRESS = CONFIRMED + " Nothing was changed yet; now do it again."
OTHER_PERSON = (
    "You signed in at {host} as {address}, which is not you here. Nothing was confirmed or changed."
)


@dataclass(frozen=True, slots=True)
class KeptForm:
    """`name` is the form's class, `path` its page, `confirmed_text` what is said on it then."""

    name: str
    path: str
    values: Mapping[str, str]
    confirmed_text: str


def leave_for_provider(
    request: TeamRequest, single_sign_on: SingleSignOn, form: KeptForm
) -> HttpResponse:
    """Keep the form's values and send the browser to the provider. Raises `ProviderFailed`."""
    url = start_authorization(request, single_sign_on, purpose="confirmation", next_path=form.path)
    if len(json.dumps(form.values)) > MAX_KEPT_CHARS:
        form = replace(form, values={})
    request.session[KEPT_FORM_SESSION_KEY] = asdict(form)
    if request.htmx:
        return HttpResponseClientRedirect(url)
    context = {"url": url, "host": single_sign_on.host, "team": single_sign_on.team}
    return render(request, CONTINUE_TEMPLATE, context)


def take_kept_values(request: HttpRequest, form: str) -> dict[str, str]:
    """Return what was entered in this form before the browser left its page for the provider."""
    kept = request.session.get(KEPT_FORM_SESSION_KEY)
    if not kept or (kept["name"], kept["path"]) != (form, request.path):
        return {}
    del request.session[KEPT_FORM_SESSION_KEY]
    return dict(kept["values"])


def finish_confirmation(
    request: HttpRequest, member: Membership, pending: PendingAuthorization
) -> None:
    """Record that the member signed in at the provider, or say why it does not count."""
    single_sign_on = member.team.single_sign_on
    try:
        identity = identify_person(single_sign_on, pending, request.GET.dict())
        check_same_person(single_sign_on, identity, member)
    except SingleSignOnFailed as failure:
        record_refused_confirmation(member, pending.next_path, "not confirmed by the provider")
        messages.error(request, failure.sentence)
        return
    ratelimit.clear(request, **ATTEMPTS)
    record_authentication(request, member.user, method=SINGLE_SIGN_ON_METHOD, reauthenticated=True)
    kept = request.session.get(KEPT_FORM_SESSION_KEY) or {}
    sentence = kept.get("confirmed_text", CONFIRMED)
    messages.success(request, sentence.format(host=single_sign_on.host))


def check_same_person(
    single_sign_on: SingleSignOn, identity: ProviderIdentity, member: Membership
) -> None:
    """The address may have changed at the provider, or be somebody else's there; its subject is the
    same."""
    own = SingleSignOnLink.objects.filter(single_sign_on=single_sign_on, user=member.user)
    if not own.filter(issuer=single_sign_on.issuer, subject=identity.subject).exists():
        words = {"host": single_sign_on.host, "address": identity.address}
        raise SingleSignOnFailed(OTHER_PERSON.format(**words))


def record_refused_confirmation(member: Membership, path: str, reason: str) -> None:
    """Write it into the team's audit log; the same once in five minutes, or it would grow with an
    attack that the limit holds."""
    key = f"confirmation:{member.pk}:{reason.replace(' ', '-')}"
    if cache.add(key, True, REFUSED_RECORD_INTERVAL_S):
        record_audit_event(member, AuditAction.CONFIRMATION_REFUSE, path, reason=reason)
