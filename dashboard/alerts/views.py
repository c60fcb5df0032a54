"""The alerts page: alert history, rules and channels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.alerts import actions
from dashboard.alerts.forms import AlertRulesForm, NewAlertRuleForm, WebhookForm
from dashboard.alerts.queries import build_alerts_page, load_alert_rules
from dashboard.models import AlertKind, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal, StaleData

PAGE_TEMPLATE, HISTORY_TEMPLATE = "alerts/page.html", "alerts/_history.html"
LOG_TEMPLATE = "alerts/_deliveries.html"


@require_safe
@vary_on_headers("HX-Request")
def alerts(request: TeamRequest) -> HttpResponse:
    """The page; for htmx one part of it, the history or the delivery log."""
    if not request.htmx:
        return render_alerts_page(request)
    part = LOG_TEMPLATE if request.GET.get("part") == "log" else HISTORY_TEMPLATE
    return render(request, part, {"page": build_alerts_page(request.membership)})


@require_safe
def unread_badge(request: TeamRequest) -> HttpResponse:
    """The number of the reader's unread alerts, for the bell."""
    return render(request, "alerts/_bells.html")


@require_POST
def mark_alerts_read(request: TeamRequest) -> HttpResponse:
    actions.mark_alerts_read(by=request.membership)
    return redirect("alerts")


@require_POST
def update_rules(request: TeamRequest) -> HttpResponse:
    """Save the form with all rules."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    form = AlertRulesForm(load_alert_rules(request.membership), request.POST)
    if form.is_valid():
        try:
            changed = actions.update_alert_rules(
                by=request.membership, requested=form.requested_changes()
            )
        except StaleData as stale:
            form = form.with_current_version(load_alert_rules(request.membership))
            form.add_error(None, stale.sentence)
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            if changed:
                messages.success(request, "Alert rules saved.")
            return redirect("alerts")
    return render_alerts_page(request, rules=form)


class AddRule(DialogView):
    template_name, page_template, back = "alerts/_new_rule.html", PAGE_TEMPLATE, "alerts"
    form_class, refused_field = NewAlertRuleForm, "threshold"

    def fetch(self) -> None:
        check_permission(self.by, Permission.MANAGE_MONEY)

    def save(self, form: PortalForm) -> str:
        kind, threshold = AlertKind(form.cleaned_data["kind"]), form.cleaned_data["threshold"]
        actions.add_alert_rule(by=self.by, kind=kind, threshold=threshold)
        return ""

    def load_page(self) -> Mapping[str, Any]:
        return load_alerts_page(self.by)


@never_cache
@sensitive_variables("secret")
@require_POST
def set_webhook(request: TeamRequest) -> HttpResponse:
    """Save the webhook. Only this response contains the secret."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    form, secret = WebhookForm(request.POST), ""
    if form.is_valid():
        try:
            secret = actions.set_webhook(by=request.membership, url=form.cleaned_data["url"])
        except Refusal as refusal:
            form.add_error("url", refusal.sentence)
    return render_alerts_page(request, webhook=WebhookForm() if secret else form, secret=secret)


@require_POST
def remove_webhook(request: TeamRequest) -> HttpResponse:
    actions.remove_webhook(by=request.membership)
    messages.success(request, "Webhook removed.")
    return redirect("alerts")


@require_POST
def send_test_alerts(request: TeamRequest) -> HttpResponse:
    """Send a test on every channel; the delivery log shows the result."""
    try:
        rows = actions.send_test_alert(by=request.membership)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("alerts")
    channels = {row.get_channel_display().lower() for row in rows}
    messages.info(
        request, f"Test alert sent by {' and '.join(sorted(channels))}. See the delivery log."
    )
    return redirect("alerts")


def render_alerts_page(request: TeamRequest, **changed: Any) -> HttpResponse:
    """`changed`: forms with what was entered, and a secret that is shown once."""
    context = {**load_alerts_page(request.membership), **changed}
    is_invalid = any(context[name].errors for name in ("rules", "webhook"))
    return render(request, PAGE_TEMPLATE, context, status=422 if is_invalid else 200)


def load_alerts_page(reader: Membership) -> dict[str, Any]:
    page = build_alerts_page(reader)
    return {"page": page, "rules": AlertRulesForm(list(page.rules)), "webhook": WebhookForm()}
