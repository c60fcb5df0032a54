"""Views to remove a member, to leave the team, to hand work over, and to sign a member out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from dashboard.members.actions.removal import (
    MemberRemoval,
    hand_over_work,
    remove_member,
    sign_member_out,
)
from dashboard.members.forms.removal import HandOverForm, RemoveMemberForm
from dashboard.members.queries.removal import load_left_work
from dashboard.members.views.dialogs import MemberDialog
from dashboard.models import Membership
from dashboard.shared.access import fetch_membership
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from proxyapi.charges.recovery import recover_if_restored
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.refusals import Refusal

LIMITER_AWAY = "Redis does not answer, so it is not known what was sent. Nothing was changed."

ACCOUNT_DISABLED = "Your account is disabled until somebody invites you."


class WorkDialog(MemberDialog):
    """About what a member leaves behind."""

    def fetch(self, membership_id: int) -> None:
        super().fetch(membership_id)
        self.work = load_left_work(self.member)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"member": self.member, "work": self.work}


class RemoveMember(WorkDialog):
    """Remove a member; with one's own membership, leave the team."""

    template_name = "members/_removal.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> RemoveMemberForm:
        return RemoveMemberForm(self.request, self.work, data)

    def save(self, form: RemoveMemberForm) -> str:
        member, is_own = self.member, self.member.user_id == self.by.user_id
        try:
            # In a restored database, held charges may have been sent already.
            recover_if_restored()
            removal = remove_member(member, by=self.by, successors=form.successors)
        except RateLimiterUnavailable:
            raise Refusal(LIMITER_AWAY) from None
        if not is_own:
            return removal_text(member, removal)
        if removal.has_other_team:
            self.back = "overview"
            return f"You left {member.team}."
        self.request.session.flush()  # its row was deleted
        self.back = "account_login"
        return f"You left {member.team}. {ACCOUNT_DISABLED}"


def removal_text(member: Membership, removal: MemberRemoval) -> str:
    sentence = f"{member.user} was removed from {member.team}."
    if removal.unsettled:
        sentence += f" Charges with an unknown outcome: {removal.unsettled}. They will be settled."
    return sentence


class HandOverWork(WorkDialog):
    """Have a colleague's token go on with a member's running renders and drafts."""

    template_name = "members/_hand_over.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return HandOverForm(self.work, data)

    def save(self, form: PortalForm) -> str:
        memberships = self.request.team.memberships.select_related("user")
        to = get_object_or_404(memberships, user=form.cleaned_data["to"])
        renders, drafts = hand_over_work(by=self.by, member=self.member, to=to)
        return f"{to.user} got {renders} renders and {drafts} drafts."


@require_POST
def sign_out(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Sign a member out everywhere."""
    member = fetch_membership(request, membership_id)
    sign_member_out(by=request.membership, member=member)
    messages.success(request, f"{member.user} is signed out everywhere.")
    return redirect("members")
