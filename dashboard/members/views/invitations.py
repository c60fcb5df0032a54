"""Views to invite people, and to send an invitation again or end it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from allauth.core.internal import ratelimit
from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.members.actions.invitations import (
    invite_people,
    resend_invitation,
    restore_invitation,
    revoke_invitation,
)
from dashboard.members.forms.invitations import InvitePeopleForm
from dashboard.members.views.answers import run_and_redirect
from dashboard.members.views.dialogs import MembersDialog
from dashboard.models import Role
from dashboard.shared.access import check_permission, fetch_invitation
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.mails import PORTAL_SENDS_NO_MAIL
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

RATE_PER_TEAM, RATE_PER_ADDRESS = "60/h/key", "5/h/key"
TOO_MANY_INVITATIONS = (
    "Nothing was sent: the team has sent as many invitations as are allowed in an hour. Wait, and "
    "send them then."
)


class InvitePeople(MembersDialog):
    template_name, refused_field = "members/_invite.html", "addresses"

    def fetch(self) -> None:
        check_permission(self.by, Permission.MANAGE_MEMBERS)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return InvitePeopleForm(self.by, data)

    def save(self, form: InvitePeopleForm) -> str:
        if not settings.PASSWORD_RESET_BY_EMAIL:
            raise Refusal(f"Nothing was sent: {PORTAL_SENDS_NO_MAIL}")
        fields = form.cleaned_data
        consume_invitation_mails(self.request, fields["addresses"])
        invite_people(
            by=self.by,
            addresses=fields["addresses"],
            role=Role(fields["role"]),
            message=fields["message"],
        )
        self.partly_sent = form if form.rest else None
        return invitations_sent_text(fields["addresses"])

    def answer_saved(self) -> HttpResponse:
        if self.partly_sent is None:
            return super().answer_saved()
        self.partly_sent.keep_rest()
        return self.show(self.partly_sent)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"sends_mail": settings.PASSWORD_RESET_BY_EMAIL}


@require_POST
def send_again(request: TeamRequest, invitation_id: UUID) -> HttpResponse:
    invitation = fetch_invitation(request, invitation_id)

    def resend() -> None:
        consume_invitation_mails(request, [invitation.address])
        resend_invitation(by=request.membership, invitation=invitation)

    text = f"{invitation.address} gets a new link. The link before does not work any more."
    return run_and_redirect(request, resend, text)


@require_POST
def revoke(request: TeamRequest, invitation_id: UUID) -> HttpResponse:
    invitation = fetch_invitation(request, invitation_id)
    action = partial(revoke_invitation, by=request.membership, invitation=invitation)
    undo_url = reverse("invitation-restorations", args=[invitation.pk])
    text = f"The invitation of {invitation.address} was revoked."
    return run_and_redirect(request, action, text, undo_url=undo_url)


@require_POST
def restore(request: TeamRequest, invitation_id: UUID) -> HttpResponse:
    invitation = fetch_invitation(request, invitation_id)
    action = partial(restore_invitation, by=request.membership, invitation=invitation)
    return run_and_redirect(
        request, action, f"The invitation of {invitation.address} is open again."
    )


def consume_invitation_mails(request: TeamRequest, addresses: list[str]) -> None:
    """Count a mail for the team and for each address. Raises `Refusal` if one has no mail left."""
    limits = [(RATE_PER_TEAM, str(request.team.pk))] * len(addresses)
    limits += [(RATE_PER_ADDRESS, address) for address in addresses]
    for rate, key in limits:
        usage = ratelimit.consume(
            request, app="invitations", action="mail", config={"mail": rate}, key=key
        )
        if usage is None:
            raise Refusal(TOO_MANY_INVITATIONS, field="addresses")


def invitations_sent_text(addresses: list[str]) -> str:
    if len(addresses) == 1:
        return f"{addresses[0]} gets an invitation."
    return f"{len(addresses)} invitations are being sent."
