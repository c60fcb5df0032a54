"""The consent to an agent, and the page of the agents with its dialogs."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from dashboard.agents import actions, pages
from dashboard.agents.authorization import (
    ClientRefused,
    issue_code,
    read_client_request,
)
from dashboard.agents.forms import ConsentForm, CreditsForm, DecisionForm
from dashboard.agents.redirects import form_targets
from dashboard.api_keys import actions as key_actions
from dashboard.api_keys.pages import load_revocation
from dashboard.models import AgentApproval, AgentDecision
from dashboard.shared.access import KeyRight, fetch_api_key, sees_api_keys
from dashboard.shared.dialogs import DialogView
from dashboard.shared.formatting import clock, credits
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.key_limits import sum_credits
from dashboard.shared.member_token import has_member_token
from proxyapi.refusals import Refusal

PAGE_TEMPLATE = "agents/page.html"
CHANGED_MEANWHILE = (
    "What this program says about itself changed meanwhile. Read it again before you connect it."
)


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class Consent(View):
    """The page that a program opens in the browser of its user (RFC 6749 section 3.1)."""

    request: TeamRequest

    def dispatch(self, request: TeamRequest, *args: Any, **options: Any) -> HttpResponseBase:  # type: ignore[override]
        if request.method not in ("GET", "HEAD", "POST"):
            return self.http_method_not_allowed(request)
        if not sees_api_keys(request.membership):
            context = {"sentence": actions.NO_RIGHT, "answer_url": ""}
            return render(request, "agents/refused.html", context, status=403)
        try:
            self.read = read_client_request(request)
        except Refusal as refusal:
            answer_url = refusal.answer_url if isinstance(refusal, ClientRefused) else ""
            context = {"sentence": refusal.sentence, "answer_url": answer_url}
            return render(request, "agents/refused.html", context, status=400)
        return super().dispatch(request, *args, **options)

    def get(self, request: TeamRequest) -> HttpResponse:
        return self.show(ConsentForm(request, self.read))

    def post(self, request: TeamRequest) -> HttpResponse:
        if "cancel" in request.POST:
            return send_to_client(self.read.refuse("access_denied"))
        form = ConsentForm(request, self.read, request.POST)
        if form.is_valid():
            if form.cleaned_data["drawn"] != self.read.version:
                messages.error(request, CHANGED_MEANWHILE)
                return self.show(ConsentForm(request, self.read))
            try:
                agent = actions.connect_agent(
                    by=request.membership,
                    client_id=self.read.client.pk,
                    name=self.read.client.name,
                    **form.values(),
                )
            except Refusal as refusal:
                field = refusal.field if refusal.field in form.fields else None
                form.add_error(field, refusal.sentence)
            else:
                return send_to_client(issue_code(request, self.read, agent))
        return self.show(form)

    def show(self, form: ConsentForm) -> HttpResponse:
        context = {
            "form": form,
            "read": self.read,
            "action": self.request.get_full_path(),
            "has_token": has_member_token(self.request.membership),
        }
        status = 422 if form.errors else 200
        response = render(self.request, "agents/consent.html", context, status=status)
        # The form is answered by a redirect to the program, which browsers check, too.
        targets = form_targets(self.read.redirect_uri)
        response._csp_update = {"form-action": targets[1:]}  # type: ignore[attr-defined]
        return response


def send_to_client(address: str) -> HttpResponse:
    """303, so that the form is not sent there (RFC 9700 section 4.12). Django's own redirect knows
    no scheme of an app."""
    headers = {"Location": address, "Cache-Control": "no-store"}
    return HttpResponse(status=303, headers=headers)


@require_safe
def agents(request: TeamRequest) -> HttpResponse:
    """The list; for htmx its table alone."""
    context = pages.load_agents_page(request.membership)
    return render(request, "agents/_table.html" if request.htmx else PAGE_TEMPLATE, context)


class AgentDialog(DialogView):
    page_template, back = PAGE_TEMPLATE, "agents"
    right: KeyRight

    def fetch(self, agent_id: UUID) -> None:
        self.agent = fetch_api_key(self.request, agent_id, self.right, agents=True)

    def load_page(self) -> Mapping[str, Any]:
        return pages.load_agents_page(self.by)


class AgentCredits(AgentDialog):
    template_name, right = "agents/_credits.html", KeyRight.EDIT

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return CreditsForm(self.agent, data)

    def rebuild_form(self, form: CreditsForm) -> PortalForm:
        self.agent.refresh_from_db()
        return form.with_current_version(self.agent)

    def save(self, form: PortalForm) -> str:
        amount, drawn = form.cleaned_data["amount"], form.cleaned_data["drawn"]
        agent = actions.raise_credits(by=self.by, agent=self.agent, amount=amount, drawn=drawn)
        return (
            f"{agent.name} may spend {credits(amount)} cr more: {credits(agent.allowance)} in all."
        )

    def load_dialog(self) -> Mapping[str, Any]:
        sums = sum_credits(self.by.team, [self.agent])
        return {"agent": self.agent, "used": sum(sums.get(self.agent.pk, ())[:2])}


class AgentItems(AgentDialog):
    """Several items that an agent asks for at once: approve, decline, end."""

    template_name, form_class = "agents/_approval.html", DecisionForm

    def fetch(self, items_id: UUID) -> None:
        approvals = AgentApproval.objects.with_usage().filter(key__tenant=self.by.team.tenant_id)
        self.approval = get_object_or_404(approvals, pk=items_id)
        rights = (KeyRight.EDIT, KeyRight.LIMIT)
        self.agent = fetch_api_key(self.request, self.approval.key_id, *rights, agents=None)

    def save(self, form: PortalForm) -> str:
        decision = AgentDecision(form.cleaned_data["decision"])
        approval = actions.decide_approval(by=self.by, approval=self.approval, decision=decision)
        if decision != AgentDecision.APPROVED:
            return f"{self.agent.name}: {decision}. Nothing more is charged under it."
        return (
            f"{self.agent.name} may charge {credits(approval.credits)} cr for "
            f"{approval.item_count} items until {clock(approval.expires_at)}."
        )

    def load_dialog(self) -> Mapping[str, Any]:
        end = actions.approval_end(self.approval, timezone.now())
        sums = sum_credits(self.by.team, [self.agent])
        used = sum(sums.get(self.agent.pk, ())[:2])
        return {
            "approval": self.approval,
            "agent": self.agent,
            "until": self.approval.expires_at if self.approval.decision else end,
            "left": max((self.agent.allowance or Decimal(0)) - used, Decimal(0)),
            "is_own": self.agent.owner_id == self.by.user_id,
        }


class AgentEnd(AgentDialog):
    template_name, right = "agents/_end.html", KeyRight.REVOKE

    def save(self, form: PortalForm) -> str:
        key_actions.revoke_api_key(by=self.by, key=self.agent, reason="")
        return f"{self.agent.name} is ended. Its tokens are refused from now on."

    def load_dialog(self) -> Mapping[str, Any]:
        return load_revocation(self.by, self.agent)
