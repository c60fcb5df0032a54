"""Views that change the role of a member. htmx replaces the member's row."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from dashboard.members.actions.roles import (
    RendersRunning,
    change_member_role,
    check_can_assign_role,
)
from dashboard.members.forms.roles import RoleConfirmationForm
from dashboard.members.queries.members import load_member_rows
from dashboard.members.views.members import render_members_page
from dashboard.models import Membership, Role
from dashboard.shared.access import fetch_membership
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import MANAGING_PERMISSIONS, role_allows
from proxyapi.refusals import Refusal

CONFIRMATION_TEMPLATE = "members/_role_confirmation.html"


@sensitive_post_parameters("password")
@require_POST
def update_role(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Change a member's role. A refusal is shown below their role, with an unchanged list."""
    member = fetch_membership(request, membership_id)
    try:
        role = parse_role(request.POST.get("role", ""))
        check_can_assign_role(request.membership, member, role)
        form = RoleConfirmationForm(request, request.POST, role=role)
        if raises_permissions(member, role) and not form.is_valid():
            return require_confirmation(request, member, form)
        before = Role(member.role)
        changed = change_member_role(by=request.membership, member=member, role=role)
    except Refusal as refusal:
        return show_role_refusal(request, member, refusal)
    if changed:
        undo_url = reverse("member-role-restorations", args=[member.pk, before.value])
        is_me = member.pk == request.membership.pk
        add_role_message(request, member, role, "" if is_me else undo_url)
    if not request.htmx:
        return redirect("members")
    return render_member_row(request, member)


@require_POST
def restore_role(request: TeamRequest, membership_id: int, role: str) -> HttpResponse:
    """Undo a change: give the role that the member had before."""
    member = fetch_membership(request, membership_id)
    try:
        restored_role = parse_role(role)
        check_can_assign_role(request.membership, member, restored_role)
        if raises_permissions(member, restored_role):
            form = RoleConfirmationForm(request, role=restored_role)
            if form.asks_confirmation:
                return require_confirmation(request, member, form)
        change_member_role(by=request.membership, member=member, role=restored_role)
    except Refusal as refusal:
        return show_role_refusal(request, member, refusal)
    add_role_message(request, member, restored_role)
    return redirect("members")


def raises_permissions(member: Membership, role: Role) -> bool:
    """Whether the role lets the member manage people or money, which they could not before."""
    return any(
        role_allows(role, permission) and not role_allows(member.role, permission)
        for permission in MANAGING_PERMISSIONS
    )


def require_confirmation(
    request: TeamRequest, member: Membership, form: RoleConfirmationForm
) -> HttpResponse:
    """Show the dialog that asks for it: alone for htmx, else on the page."""
    context = {
        "form": form,
        "member": member,
        "back": reverse("members"),
        "dialog": CONFIRMATION_TEMPLATE,
    }
    if not request.htmx:
        return render_members_page(request, status=422 if form.errors else 200, **context)
    response = render(request, CONFIRMATION_TEMPLATE, {**context, "form": form.without_errors()})
    return reswap(retarget(response, "#dialogs"), "innerHTML")


def show_role_refusal(request: TeamRequest, member: Membership, refusal: Refusal) -> HttpResponse:
    context = {
        "refused": member.pk,
        "sentence": refusal.sentence,
        "offers_hand_over": isinstance(refusal, RendersRunning),
    }
    if request.htmx:
        return render_member_row(request, member, **context)
    return render_members_page(request, status=422, **context)


def render_member_row(request: TeamRequest, member: Membership, **context: object) -> HttpResponse:
    row = next(row for row in load_member_rows(request.membership) if row.id == member.pk)
    return render(request, "members/_updated_row.html", {"member": row, **context})


def add_role_message(
    request: TeamRequest, member: Membership, role: Role, undo_url: str = ""
) -> None:
    name, noun = member.user.first_name, role_noun(role)
    messages.success(request, f"{name} is {noun} now.", extra_tags=undo_url)


def role_noun(role: Role) -> str:
    word = role.label.lower()
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def parse_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise Refusal("There is no such role. Choose one from the list.", field="role") from None
