"""The alerts page in three tabs: alert history, alert rules, delivery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.alerts import actions, pages
from dashboard.alerts.forms import (
    AlertRulesForm,
    EditWebhookForm,
    NewAlertRuleForm,
    RotateWebhookForm,
    WebhookForm,
)
from dashboard.models import AlertKind
from dashboard.shared.access import check_permission, fetch_delivery, fetch_webhook
from dashboard.shared.dialogs import ConfirmedDialog, DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal, StaleData

RULES_TEMPLATE, DELIVERY_TEMPLATE = "alerts/rules.html", "alerts/delivery.html"


@require_safe
@vary_on_headers("HX-Request")
def alerts(request: TeamRequest) -> HttpResponse:
    """The history; for htmx the list alone."""
    template = "alerts/_history.html" if request.htmx else "alerts/page.html"
    return render(request, template, pages.load_history(request.membership))


@require_safe
def unread_badge(request: TeamRequest) -> HttpResponse:
    """The number of the reader's unread alerts, for the bell."""
    return render(request, "alerts/_bells.html")


@require_POST
def mark_alerts_read(request: TeamRequest) -> HttpResponse:
    actions.mark_alerts_read(by=request.membership)
    return redirect("alerts")


@require_http_methods(["GET", "HEAD", "POST"])
def rules(request: TeamRequest) -> HttpResponse:
    """The form with all rules, and what saves it."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    if request.method != "POST":
        return render(request, RULES_TEMPLATE, pages.load_rules(request.membership))
    form = AlertRulesForm(pages.load_alert_rules(request.membership), request.POST)
    if form.is_valid():
        try:
            changed = actions.update_alert_rules(
                by=request.membership, requested=form.requested_changes()
            )
        except StaleData as stale:
            form = form.with_current_version(pages.load_alert_rules(request.membership))
            form.add_error(None, stale.sentence)
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            if changed:
                messages.success(request, "Alert rules saved.")
            return redirect("alert-rules")
    return render(request, RULES_TEMPLATE, {"rules": form}, status=422)


class AddRule(DialogView):
    template_name, page_template = "alerts/_new_rule.html", RULES_TEMPLATE
    back, form_class, refused_field = "alert-rules", NewAlertRuleForm, "threshold"

    def fetch(self) -> None:
        check_permission(self.by, Permission.MANAGE_MONEY)

    def save(self, form: PortalForm) -> str:
        kind, threshold = AlertKind(form.cleaned_data["kind"]), form.cleaned_data["threshold"]
        actions.add_alert_rule(by=self.by, kind=kind, threshold=threshold)
        return ""

    def load_page(self) -> Mapping[str, Any]:
        return pages.load_rules(self.by)


@require_safe
@vary_on_headers("HX-Request")
def deliveries(request: TeamRequest) -> HttpResponse:
    """The webhooks, the recipients and the delivery log; for htmx the log and the state of each
    webhook."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    only = request.GET.get("only", "")
    if request.htmx:
        context = pages.load_delivery_log(request.membership, only)
        return render(request, "alerts/updated_deliveries.html", context)
    return render(request, DELIVERY_TEMPLATE, pages.load_delivery(request.membership, only))


@require_POST
def resend_delivery(request: TeamRequest, delivery_id: UUID) -> HttpResponse:
    delivery = fetch_delivery(request, delivery_id)
    try:
        actions.resend_delivery(by=request.membership, delivery=delivery)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.info(request, "The alert is sent again. The delivery log shows the result.")
    return redirect("alert-deliveries")


@never_cache
@sensitive_variables("secret")
@require_POST
def add_webhook(request: TeamRequest) -> HttpResponse:
    """Save a webhook. Only this response contains the secret of one that is signed."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    form, secret = WebhookForm(request.POST), ""
    if form.is_valid():
        try:
            secret = actions.add_webhook(by=request.membership, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error("url", refusal.sentence)
        else:
            if not secret:
                messages.success(request, "Webhook saved.")
                return redirect("alert-deliveries")
    context = pages.load_delivery(request.membership)
    context |= {"secret": secret} if secret else {"new_webhook": form}
    return render(request, DELIVERY_TEMPLATE, context, status=422 if form.errors else 200)


@require_POST
def remove_webhook(request: TeamRequest, webhook_id: UUID) -> HttpResponse:
    hook = fetch_webhook(request, webhook_id)
    actions.remove_webhook(by=request.membership, hook=hook)
    messages.success(request, "Webhook removed.")
    return redirect("alert-deliveries")


class WebhookDialog(DialogView):
    page_template, back = DELIVERY_TEMPLATE, "alert-deliveries"

    def fetch(self, webhook_id: UUID) -> None:
        self.hook = fetch_webhook(self.request, webhook_id)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"hook": self.hook}

    def load_page(self) -> Mapping[str, Any]:
        return pages.load_delivery(self.by)


class EditWebhook(WebhookDialog):
    template_name = "alerts/_edit_webhook.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return EditWebhookForm(self.hook, data)

    def rebuild_form(self, form: EditWebhookForm) -> PortalForm:
        self.hook.refresh_from_db()
        return form.with_current_version(self.hook)

    def save(self, form: PortalForm) -> str:
        actions.update_webhook(by=self.by, hook=self.hook, **form.cleaned_data)
        return "Webhook saved."


class RotateWebhook(WebhookDialog, ConfirmedDialog):
    template_name = "alerts/_rotate_webhook.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return RotateWebhookForm(self.request, data)

    def save(self, form: PortalForm) -> str:
        self.secret = actions.rotate_webhook_secret(by=self.by, hook=self.hook)
        return ""

    @method_decorator(sensitive_variables("context"))
    def answer_saved(self) -> HttpResponse:
        context = {**pages.load_delivery(self.by), "secret": self.secret}
        return render(self.request, DELIVERY_TEMPLATE, context)  # no answer is stored by a browser


@require_POST
def enable_webhook(request: TeamRequest, webhook_id: UUID) -> HttpResponse:
    hook = fetch_webhook(request, webhook_id)
    actions.enable_webhook(by=request.membership, hook=hook)
    messages.success(request, "Webhook enabled. It gets what happens from now on.")
    return redirect("alert-deliveries")


@require_POST
def send_test_alerts(request: TeamRequest) -> HttpResponse:
    """Send a test on every channel; the delivery log shows the result."""
    try:
        rows = actions.send_test_alert(by=request.membership)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("alert-deliveries")
    channels = {row.get_channel_display().lower() for row in rows}
    messages.info(
        request, f"Test alert sent by {' and '.join(sorted(channels))}. See the delivery log."
    )
    return redirect("alert-deliveries")
