"""The automatic top-up of one account: looked at and changed by the treasurer and the owner alone.

No view asks the service: a change is a row that a worker sends, and its end comes over the stream.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from dashboard.access import fetch_account, fetch_credit_pack
from dashboard.actions import top_up as actions
from dashboard.forms.top_up import PackForm, TopUpForm
from dashboard.http import ASKS_OR_ACTS, TeamRequest, go_to
from dashboard.queries.address import address, uuid_or_none
from dashboard.queries.top_up import (
    UNFINISHED,
    Facts,
    arrivals_of,
    confirm_of,
    digest,
    facts_of,
    history_of,
    page_of,
    shown_of,
    state_of,
    what_if_of,
)
from dashboard.roles import Permission
from proxyapi.models import Account
from proxyapi.refusals import Refusal

MONEY = Permission.MANAGE_MONEY
PAGE, STATE = "dashboard/top_up/page.html", "dashboard/top_up/_state.html"
SETTING, WHAT_IF = "dashboard/top_up/_setting.html", "dashboard/top_up/_what_if.html"
CONFIRM = "dashboard/top_up/_confirm.html"


@require_safe
def top_up(request: TeamRequest) -> HttpResponse:
    """The page; `replay` draws the what-if into it, for who has no script."""
    account, accounts = fetch_account(request, request.GET.get("account", ""), MONEY)
    if account is None:
        return render(request, "dashboard/top_up/accountless.html")
    return show(request, facts_of(account, accounts))


@require_safe
def state(request: TeamRequest) -> HttpResponse:
    """What is known now, and the form too while a change of it is on its way."""
    facts = facts_in(request)
    if not request.htmx:
        return redirect(page_url(facts.account))
    if request.GET.get("part") == "setting":
        return render(request, SETTING, setting_of(facts))
    drawn = request.GET.get("drawn", "")[:12]
    context = {
        "state": state_of(facts, drawn),
        "history": history_of(request.team, facts),
        "arrivals": arrivals_of(facts),
        "fragment": True,
    }
    return render(request, STATE, context)


@require_safe
def what_if(request: TeamRequest) -> HttpResponse:
    """The last thirty days under the setting on the form; an unfinished one is not replayed."""
    facts = facts_in(request)
    if not request.htmx:
        return redirect(f"{page_url(facts.account)}&replay=1")
    form = TopUpForm(facts.packs, shown_of(facts), request.GET if "seen" in request.GET else None)
    if form.is_bound and not form.is_valid():
        return render(request, WHAT_IF, {"what_if": UNFINISHED})
    setting = form.wanted() if form.is_bound else form.drawn
    return render(request, WHAT_IF, {"what_if": what_if_of(facts.account, setting)})


@ASKS_OR_ACTS
def changes(request: TeamRequest) -> HttpResponse:
    """Asks whether to change it so, then has it sent."""
    facts = facts_in(request)
    data = request.POST if request.method == "POST" else request.GET
    form = TopUpForm(facts.packs, shown_of(facts), data)
    if not form.is_valid():
        return unusable(request, facts, form)
    nonce, refusal = None, ""
    if request.method == "POST":
        nonce = nonce_in(request)
        try:
            wanted, seen = form.wanted(), form.cleaned_data["seen"]
            actions.change_top_up(
                by=request.membership, account=facts.account, nonce=nonce, wanted=wanted, seen=seen
            )
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return go_to(request, page_url(facts.account))
    confirm = confirm_of(facts, form.wanted(), form.cleaned_data["seen"], nonce, refusal)
    if request.htmx:
        return render(request, CONFIRM, {"confirm": confirm, "form": form, "fragment": True})
    status = 422 if refusal else 200
    return show(request, facts, status, form=form, confirm=confirm)


@require_POST
def packs(request: TeamRequest) -> HttpResponse:
    """A credit pack that the team keeps."""
    facts, form = facts_in(request), PackForm(request.POST)
    if form.is_valid():
        try:
            pack = actions.add_pack(by=request.membership, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            messages.success(request, f"{pack.name} is kept, {pack.credits:,} cr.")
            return redirect(page_url(facts.account))
    return show(request, facts, 422, pack_form=form)


@require_POST
def pack_removals(request: TeamRequest, pack_id: int) -> HttpResponse:
    pack = fetch_credit_pack(request, pack_id)
    actions.remove_pack(by=request.membership, pack=pack)
    messages.success(request, f"{pack.name} is kept no longer.")
    return redirect(page_url(request.POST.get("account", "")))


def facts_in(request: TeamRequest) -> Facts:
    named = request.POST.get("account", "") or request.GET.get("account", "")
    account, accounts = fetch_account(request, named, MONEY)
    if account is None:
        raise Http404("There is no account in this team yet.")
    return facts_of(account, accounts)


def show(request: TeamRequest, facts: Facts, status: int = 200, **more: Any) -> HttpResponse:
    """The whole page, with what was typed where it came back."""
    context = {
        "page": page_of(facts, request.team),
        "pack_form": PackForm(),
        **setting_of(facts),
        **more,
    }
    if request.GET.get("replay"):
        context["what_if"] = what_if_of(facts.account, shown_of(facts))
    return render(request, PAGE, context, status=status)


def setting_of(facts: Facts, form: TopUpForm | None = None) -> dict[str, Any]:
    """What the form is drawn from. `drawn` recognises it when the setting changes meanwhile."""
    shown = shown_of(facts)
    return {
        "form": form or TopUpForm(facts.packs, shown),
        "state": state_of(facts),
        "drawn": digest(shown),
    }


def unusable(request: TeamRequest, facts: Facts, form: TopUpForm) -> HttpResponse:
    """The form with what is wrong in it."""
    if not request.htmx:
        return show(request, facts, 422, form=form)
    response = render(request, SETTING, setting_of(facts, form))
    return reswap(retarget(response, "#top-up-setting"), "outerHTML")


def page_url(account: Account | str) -> str:
    """Of the account, or of what a field says it is."""
    id = account.pk if isinstance(account, Account) else uuid_or_none(account)
    return address("top-up", {"account": id})


def nonce_in(request: TeamRequest) -> UUID:
    """A form without its nonce is not ours: it could ask twice."""
    nonce = uuid_or_none(request.POST.get("nonce", ""))
    if nonce is None:
        raise Http404("This form is too old. Open the page again.")
    return nonce
