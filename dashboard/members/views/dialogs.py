"""Dialogs about one member that have no more than a question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.members.actions.charge_pause import pause_member_charges, resume_member_charges
from dashboard.members.actions.deactivation import deactivate_member, reactivate_member
from dashboard.members.actions.provider_link import remove_provider_link
from dashboard.members.actions.second_factor import reset_second_factor
from dashboard.members.forms.charge_pause import ChargePauseForm
from dashboard.members.queries.removal import count_movable_work
from dashboard.members.views.answers import run_and_redirect
from dashboard.members.views.members import load_members_page
from dashboard.shared.access import (
    check_permission,
    fetch_deactivated_membership,
    fetch_member_to_pause,
    fetch_membership,
    fetch_removable_membership,
)
from dashboard.shared.dialogs import ConfirmedDialog, DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission


class MembersDialog(DialogView):
    page_template, back = "members/list.html", "members"

    def load_page(self) -> Mapping[str, Any]:
        return load_members_page(self.request)


class MemberDialog(MembersDialog, ConfirmedDialog):
    def fetch(self, membership_id: int) -> None:
        self.member = fetch_removable_membership(self.request, membership_id)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"member": self.member}


class DeactivateMember(MemberDialog):
    template_name = "members/_deactivation.html"

    def fetch(self, membership_id: int) -> None:
        self.member = fetch_membership(self.request, membership_id)

    def save(self, form: PortalForm) -> str:
        deactivate_member(by=self.by, member=self.member)
        return f"{self.member.user} is deactivated."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"member": self.member, "work": count_movable_work(self.member)}


class ReactivateMember(MemberDialog):
    template_name = "members/_reactivation.html"

    def fetch(self, membership_id: int) -> None:
        self.member = fetch_deactivated_membership(self.request, membership_id)

    def save(self, form: PortalForm) -> str:
        reactivate_member(by=self.by, member=self.member)
        return f"{self.member.user} can enter the team again."


class PauseCharges(MembersDialog):
    """A brake that is taken back with one press: nobody has to confirm that it is them."""

    template_name, form_class = "members/_charge_pause.html", ChargePauseForm

    def fetch(self, membership_id: int) -> None:
        self.member = fetch_member_to_pause(self.request, membership_id)

    def save(self, form: PortalForm) -> str:
        reason = form.cleaned_data["reason"]
        count = pause_member_charges(by=self.by, member=self.member, reason=reason)
        self.undo_url = reverse("member-charge-resumptions", args=[self.member.pk])
        cancelled = f" Not sent yet, and cancelled: {count}." if count else ""
        return f"Charges of {self.member.user} are paused.{cancelled}"

    def load_dialog(self) -> Mapping[str, Any]:
        return {"member": self.member}


@require_POST
def resume_charges(request: TeamRequest, membership_id: int) -> HttpResponse:
    member = fetch_member_to_pause(request, membership_id)
    resume = partial(resume_member_charges, by=request.membership, member=member)
    return run_and_redirect(request, resume, f"Charges of {member.user} are allowed again.")


class ResetSecondFactor(MemberDialog):
    """Warn that somebody else may ask in the member's name, then reset it."""

    template_name = "members/_second_factor_reset.html"

    def fetch(self, membership_id: int) -> None:
        super().fetch(membership_id)
        check_permission(self.by, Permission.MANAGE_MEMBERS)

    def save(self, form: PortalForm) -> str:
        reset_second_factor(by=self.by, member=self.member)
        return f"The two-factor sign-in of {self.member.user} was reset."


class RemoveProviderLink(MemberDialog):
    """Say who gets the member's account then, and remove the link to the team's provider."""

    template_name = "members/_provider_link_removal.html"

    def fetch(self, membership_id: int) -> None:
        super().fetch(membership_id)
        check_permission(self.by, Permission.MANAGE_TEAM)

    def save(self, form: PortalForm) -> str:
        remove_provider_link(by=self.by, member=self.member)
        name = self.member.user.first_name
        return f"{name} is linked anew at the next sign-in with single sign-on."
