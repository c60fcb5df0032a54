"""Views to remove a member, to leave the team, to hand work over, and to sign a member out."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dashboard.members.actions.removal import (
    MemberRemoval,
    hand_over_work,
    remove_member,
    sign_member_out,
)
from dashboard.members.forms.removal import HandOverForm, RemoveMemberForm
from dashboard.members.queries.removal import load_left_work
from dashboard.members.views.dialogs import render_members_dialog
from dashboard.models import Membership
from dashboard.shared.access import fetch_membership, fetch_removable_membership
from dashboard.shared.http import TeamRequest, allow_get_or_post
from proxyapi.charges.recovery import recover_if_restored
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.refusals import Refusal

REMOVAL_TEMPLATE, HAND_OVER_TEMPLATE = "members/_removal.html", "members/_hand_over.html"
LIMITER_AWAY = "Redis does not answer, so it is not known what was sent. Nothing was changed."


@sensitive_post_parameters("password")
@allow_get_or_post
def remove(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Show what becomes of the member's work, then remove them; with one's own membership, leave
    the team."""
    member = fetch_removable_membership(request, membership_id)
    work = load_left_work(member)
    form = RemoveMemberForm(request, work, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            # In a restored database, held charges may have been sent already.
            recover_if_restored()
            removal = remove_member(member, by=request.membership, successors=form.successors)
        except RateLimiterUnavailable:
            form.add_error(None, LIMITER_AWAY)
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return show_removal(request, member, removal)
    context = {"member": member, "work": work, "form": form}
    return render_members_dialog(request, REMOVAL_TEMPLATE, context, is_invalid=bool(form.errors))


@allow_get_or_post
def hand_over(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Have a colleague's token go on with a member's running renders and drafts."""
    member = fetch_removable_membership(request, membership_id)
    work = load_left_work(member)
    form = HandOverForm(work, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        memberships = request.team.memberships.select_related("user")
        to = get_object_or_404(memberships, user=form.cleaned_data["to"])
        renders, drafts = hand_over_work(by=request.membership, member=member, to=to)
        messages.success(request, f"{to.user} got {renders} renders and {drafts} drafts.")
        return redirect("members")
    context = {"member": member, "work": work, "form": form}
    return render_members_dialog(request, HAND_OVER_TEMPLATE, context, is_invalid=bool(form.errors))


@require_POST
def sign_out(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Sign a member out everywhere."""
    member = fetch_membership(request, membership_id)
    sign_member_out(by=request.membership, member=member)
    messages.success(request, f"{member.user} is signed out everywhere.")
    return redirect("members")


def show_removal(request: TeamRequest, member: Membership, removal: MemberRemoval) -> HttpResponse:
    if member.user_id == request.user.pk:  # `pk` of the membership is gone
        if removal.has_other_team:
            messages.success(request, f"You left {member.team}.")
        return redirect("overview")
    sentence = f"{member.user} was removed from {member.team}."
    if removal.unsettled:
        sentence += f" Charges with an unknown outcome: {removal.unsettled}. They will be settled."
    messages.success(request, sentence)
    return redirect("members")
