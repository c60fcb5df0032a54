"""Views of the team's tokens: list them by account, add one's own, remove one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from dashboard.models import User
from dashboard.shared.access import (
    check_permission,
    fetch_account_to_archive,
    fetch_token_to_change,
)
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.tokens.actions import (
    add_member_token,
    archive_account,
    remove_member_token,
    rename_token,
    restore_account,
)
from dashboard.tokens.forms import AddTokenForm, TokenNameForm
from dashboard.tokens.queries import load_token_removal, load_tokens_page
from proxyapi.models import AccountPlan, Token
from proxyapi.refusals import NotReady, Refusal

PAGE_TEMPLATE = "tokens/list.html"


@sensitive_post_parameters("token")
@sensitive_variables("form")
@allow_get_or_post
def tokens(request: TeamRequest) -> HttpResponse:
    if request.method == "POST":
        check_permission(request.membership, Permission.KEEP_TOKEN)
    form = AddTokenForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            token = add_member_token(
                by=request.membership,
                pasted=form.cleaned_data["token"],
                name=form.cleaned_data["name"],
            )
        except Refusal as refusal:
            form.add_error("token", refusal.sentence)
        else:
            name, obstacle = token.account.name or token.account.email, token_obstacle(token)
            level = messages.WARNING if obstacle else messages.SUCCESS
            text = f"Token …{token.last_four} for {name} added. {obstacle}".rstrip()
            messages.add_message(request, level, text)
            return redirect("tokens")
    context = {"page": load_tokens_page(request.membership), "token_form": form}
    return render(request, PAGE_TEMPLATE, context, status=422 if form.errors else 200)


class TokenDialog(DialogView):
    page_template, back = PAGE_TEMPLATE, "tokens"

    def fetch(self, token_id: UUID) -> None:
        self.token = fetch_token_to_change(self.request, token_id)

    def load_page(self) -> Mapping[str, Any]:
        return {"page": load_tokens_page(self.by), "token_form": AddTokenForm()}


class RenameToken(TokenDialog):
    template_name = "tokens/name.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return TokenNameForm(self.token, data)

    def save(self, form: PortalForm) -> str:
        name = form.cleaned_data["name"]
        rename_token(self.token, name)
        named = f"is named “{name}” now." if name else "has no name now."
        return f"Token …{self.token.last_four} {named}"

    def load_dialog(self) -> Mapping[str, Any]:
        return {"token": self.token}


class RemoveToken(TokenDialog):
    template_name = "tokens/removal.html"

    def save(self, form: PortalForm) -> str:
        remove_member_token(by=self.by, token=self.token)
        return token_removed_text(self.token, self.by.user)

    def load_dialog(self) -> Mapping[str, Any]:
        return load_token_removal(self.token, self.by)


@require_POST
def archive(request: TeamRequest, account_id: UUID) -> HttpResponse:
    account = fetch_account_to_archive(request, account_id)
    try:
        archive_account(by=request.membership, account=account)
    except NotReady as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, f"{account.label} was archived. Its ledger and videos are kept.")
    return redirect("tokens")


@require_POST
def restore(request: TeamRequest, account_id: UUID) -> HttpResponse:
    account = fetch_account_to_archive(request, account_id)
    restore_account(by=request.membership, account=account)
    messages.success(request, f"{account.label} is listed again.")
    return redirect("tokens")


def token_obstacle(token: Token) -> str:
    """Return why nothing can be created with a token that was just added; "" if it works."""
    account = token.account
    if account.plan == AccountPlan.TRIAL:
        return (
            "It cannot be used yet: the account is on a trial, and the service allows its API on "
            "paid plans only."
        )
    if account.plan == AccountPlan.NONE:
        return "It cannot be used yet: the account has no paid plan at the service."
    if not account.email_verified:
        return (
            "The service may refuse to render with it until the e-mail address of the account is "
            "verified there."
        )
    return ""


def token_removed_text(token: Token, by: User) -> str:
    if token.owner_id == by.pk:
        return f"Your token …{token.last_four} was removed."
    return f"Token …{token.last_four} of {token.owner} was removed."
