"""URLs of the alert history, the alert rules and the delivery of alerts."""

from __future__ import annotations

from django.urls import path

from dashboard.alerts import views

urlpatterns = [
    path("alerts/", views.alerts, name="alerts"),
    path("alerts/rules/", views.rules, name="alert-rules"),
    path("alerts/rules/new/", views.AddRule.as_view(), name="alert-rule-new"),
    path("alerts/deliveries/", views.deliveries, name="alert-deliveries"),
    path(
        "alerts/deliveries/<uuid:delivery_id>/resends/",
        views.resend_delivery,
        name="alert-delivery-resends",
    ),
    path("alerts/webhooks/", views.add_webhook, name="alert-webhooks"),
    path("alerts/webhooks/<uuid:webhook_id>/", views.EditWebhook.as_view(), name="alert-webhook"),
    path(
        "alerts/webhooks/<uuid:webhook_id>/rotations/",
        views.RotateWebhook.as_view(),
        name="alert-webhook-rotations",
    ),
    path(
        "alerts/webhooks/<uuid:webhook_id>/activations/",
        views.enable_webhook,
        name="alert-webhook-activations",
    ),
    path(
        "alerts/webhooks/<uuid:webhook_id>/removals/",
        views.remove_webhook,
        name="alert-webhook-removals",
    ),
    path("alerts/tests/", views.send_test_alerts, name="alert-tests"),
    path("alerts/unread/", views.unread_badge, name="alerts-unread"),
    path("alerts/read/", views.mark_alerts_read, name="alerts-read"),
]
