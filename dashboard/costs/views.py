"""The costs page: the service's price list, what the team paid, and its estimate of what a credit
costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard.costs.actions import set_credit_price
from dashboard.costs.forms import CreditPriceForm
from dashboard.costs.queries import (
    accounts_with_cost_maps,
    build_costs_page,
    load_estimate_accuracy,
)
from dashboard.shared.access import check_permission, fetch_account
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forecast import load_credit_packs
from dashboard.shared.formatting import unit_price
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.shared.shell import build_app_shell
from dashboard.shared.team_balance import all_team_accounts

PAGE_TEMPLATE = "costs/page.html"


@require_safe
def costs(request: TeamRequest) -> HttpResponse:
    """`?account=` selects the account whose price list is shown."""
    check_permission(request.membership, Permission.VIEW)
    account_id = request.GET.get("account", "")
    context = load_page_context(request, account_id)
    accounts = context["shell"].accounts
    if account_id and all(str(account.pk) != account_id for account in accounts):
        raise Http404("This account does not exist in this team.")
    return render(request, PAGE_TEMPLATE, context)


def load_page_context(request: TeamRequest, account_id: str) -> dict[str, Any]:
    """The page and its shell use the same accounts."""
    shell = build_app_shell(request.membership, accounts_with_cost_maps(request.team.tenant))
    page = build_costs_page(request.membership, shell.accounts, account_id)
    return {"page": page, "shell": shell}


class CreditPriceDialog(DialogView):
    """Set, change or remove the price per credit; `?pack=` fills in that of a credit pack."""

    template_name, page_template = "costs/_credit_price_dialog.html", PAGE_TEMPLATE

    def fetch(self, account_id: UUID) -> None:
        account, accounts = fetch_account(self.request, str(account_id), Permission.MANAGE_MONEY)
        assert account is not None  # noqa: S101 - an unknown id is a 404
        self.account = account
        query = f"?account={account.pk}" if len(accounts) > 1 else ""
        self.back = reverse("costs") + query
        packs = [(pack, pack.credit_price) for pack in load_credit_packs(account)]
        self.packs = [(pack, price) for pack, price in packs if price]

    def build_form(self, data: Mapping[str, Any] | None = None) -> CreditPriceForm:
        chosen = self.request.GET.get("pack")
        of_pack = (price for pack, price in self.packs if str(pack.pk) == chosen)
        return CreditPriceForm(data, next(of_pack, self.account.credit_price))

    def save(self, form: CreditPriceForm) -> str:
        set_credit_price(by=self.by, account=self.account, price=form.price)
        if form.price is None:
            return "Price per credit removed."
        return f"A credit is estimated at {unit_price(form.price)}."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"account": self.account, "packs": self.packs}

    def load_page(self) -> Mapping[str, Any]:
        return load_page_context(self.request, str(self.account.pk))


@require_safe
def estimate_accuracy(request: TeamRequest) -> HttpResponse:
    """The accuracy of estimates as a fragment for another page."""
    check_permission(request.membership, Permission.VIEW)
    accounts = tuple(all_team_accounts(request.team.tenant))
    accuracy = load_estimate_accuracy(accounts)
    return render(request, "costs/_estimate_accuracy.html", {"close": accuracy})
