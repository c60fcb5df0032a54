"""The automatic top-up of one account, for treasurer and owner only.

No view calls the service: a change is a row that a worker sends, and its result arrives over the
event stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from dashboard.shared.access import fetch_account, fetch_credit_pack
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.query_params import build_page_url, parse_uuid
from dashboard.shared.roles import Permission
from dashboard.top_up import actions
from dashboard.top_up.forms import CreditPackForm, TopUpChangeForm, TopUpForm
from dashboard.top_up.queries import (
    UNFINISHED_WHAT_IF,
    TopUpFacts,
    build_credit_arrivals,
    build_top_up_history,
    build_top_up_page,
    build_top_up_status,
    build_what_if,
    displayed_setting,
    load_top_up_confirmation,
    load_top_up_facts,
    setting_digest,
    unusual_credits_per_top_up,
)
from proxyapi.models import Account
from proxyapi.refusals import Refusal

MONEY_PERMISSION = Permission.MANAGE_MONEY
PAGE_TEMPLATE, STATE_TEMPLATE = "top_up/page.html", "top_up/_state.html"
SETTING_TEMPLATE, WHAT_IF_TEMPLATE = "top_up/_setting.html", "top_up/_what_if.html"


@require_safe
def top_up(request: TeamRequest) -> HttpResponse:
    """The page; `replay` includes the simulation, for browsers without JavaScript."""
    account, accounts = fetch_account(request, request.GET.get("account", ""), MONEY_PERMISSION)
    if account is None:
        return render(request, "top_up/no_account.html")
    return render_top_up_page(request, load_top_up_facts(account, accounts))


@require_safe
def top_up_state(request: TeamRequest) -> HttpResponse:
    """The current status, and the form as well while a change is open."""
    facts = load_requested_facts(request)
    if not request.htmx:
        return redirect(top_up_page_url(facts.account))
    if request.GET.get("part") == "setting":
        return render(request, SETTING_TEMPLATE, setting_context(facts))
    drawn = request.GET.get("drawn", "")[:12]
    context = {
        "state": build_top_up_status(facts, drawn),
        "history": build_top_up_history(facts),
        "arrivals": build_credit_arrivals(facts),
        "fragment": True,
    }
    return render(request, STATE_TEMPLATE, context)


@require_safe
def what_if(request: TeamRequest) -> HttpResponse:
    """Simulate the last 30 days with the setting in the form; an incomplete form is not
    simulated."""
    facts = load_requested_facts(request)
    if not request.htmx:
        return redirect(f"{top_up_page_url(facts.account)}&replay=1")
    form = TopUpForm(
        facts.packs, displayed_setting(facts), request.GET if "seen" in request.GET else None
    )
    if form.is_bound and not form.is_valid():
        return render(request, WHAT_IF_TEMPLATE, {"what_if": UNFINISHED_WHAT_IF})
    setting = form.requested_setting() if form.is_bound else form.drawn
    return render(request, WHAT_IF_TEMPLATE, {"what_if": build_what_if(facts.account, setting)})


class ChangeSetting(DialogView):
    """Show what the setting in the form buys; a POST requests the change."""

    template_name, page_template = "top_up/_confirm.html", PAGE_TEMPLATE

    def fetch(self) -> HttpResponse | None:
        self.facts = load_requested_facts(self.request)
        self.back = top_up_page_url(self.facts.account)
        data = self.request.POST if self.request.method == "POST" else self.request.GET
        self.setting = TopUpForm(self.facts.packs, displayed_setting(self.facts), data)
        if self.setting.is_valid():
            return None
        return render_invalid_setting(self.request, self.facts, self.setting)

    def build_form(self, data: Mapping[str, Any] | None = None) -> TopUpChangeForm:
        requested, before = self.setting.requested_setting(), displayed_setting(self.facts)
        bought = unusual_credits_per_top_up(self.facts, requested, before)
        return TopUpChangeForm(data, credits_to_type=bought)

    def save(self, form: PortalForm) -> str:
        actions.change_top_up(
            by=self.by,
            account=self.facts.account,
            nonce=form.cleaned_data["nonce"],
            requested=self.setting.requested_setting(),
            seen=self.setting.cleaned_data["seen"],
        )
        return ""

    def load_dialog(self) -> Mapping[str, Any]:
        requested, before = self.setting.requested_setting(), self.setting.cleaned_data["seen"]
        confirm = load_top_up_confirmation(self.facts, requested, before)
        return {"confirm": confirm, "setting": self.setting}

    def load_page(self) -> Mapping[str, Any]:
        return load_page_context(self.request, self.facts)


@require_POST
def add_credit_pack(request: TeamRequest) -> HttpResponse:
    facts, form = load_requested_facts(request), CreditPackForm(request.POST)
    if form.is_valid():
        try:
            pack = actions.add_credit_pack(by=request.membership, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            messages.success(request, f"Pack {pack.name} added, {pack.credits:,} cr.")
            return redirect(top_up_page_url(facts.account))
    return render_top_up_page(request, facts, 422, pack_form=form)


@require_POST
def remove_credit_pack(request: TeamRequest, pack_id: int) -> HttpResponse:
    pack = fetch_credit_pack(request, pack_id)
    actions.remove_credit_pack(by=request.membership, pack=pack)
    messages.success(request, f"Pack {pack.name} removed.")
    return redirect(top_up_page_url(request.POST.get("account", "")))


def load_requested_facts(request: TeamRequest) -> TopUpFacts:
    account_id = request.POST.get("account", "") or request.GET.get("account", "")
    account, accounts = fetch_account(request, account_id, MONEY_PERMISSION)
    if account is None:
        raise Http404("This team has no account yet.")
    return load_top_up_facts(account, accounts)


def render_top_up_page(
    request: TeamRequest, facts: TopUpFacts, status: int = 200, **context_overrides: Any
) -> HttpResponse:
    """The complete page; `context_overrides` replaces context, such as a form with errors."""
    context = {**load_page_context(request, facts), **context_overrides}
    return render(request, PAGE_TEMPLATE, context, status=status)


def load_page_context(request: TeamRequest, facts: TopUpFacts) -> dict[str, Any]:
    context = {
        "page": build_top_up_page(facts),
        "pack_form": CreditPackForm(),
        **setting_context(facts),
    }
    if request.GET.get("replay"):
        context["what_if"] = build_what_if(facts.account, displayed_setting(facts))
    return context


def setting_context(facts: TopUpFacts, form: TopUpForm | None = None) -> dict[str, Any]:
    """The context of the form. `drawn` identifies its setting, to detect a change meanwhile."""
    shown = displayed_setting(facts)
    return {
        "setting": form or TopUpForm(facts.packs, shown),
        "state": build_top_up_status(facts),
        "drawn": setting_digest(shown),
    }


def render_invalid_setting(
    request: TeamRequest, facts: TopUpFacts, form: TopUpForm
) -> HttpResponse:
    """The form with its errors."""
    if not request.htmx:
        return render_top_up_page(request, facts, 422, setting=form)
    response = render(request, SETTING_TEMPLATE, setting_context(facts, form))
    return reswap(retarget(response, "#top-up-setting"), "outerHTML")


def top_up_page_url(account: Account | str) -> str:
    """`account` is an account or the text of a form field."""
    id = account.pk if isinstance(account, Account) else parse_uuid(account)
    return build_page_url("top-up", {"account": id})
