"""URLs of the costs."""

from __future__ import annotations

from django.urls import path

from dashboard.costs import views

urlpatterns = [
    path("costs/", views.costs, name="costs"),
    path(
        "costs/<uuid:account_id>/credit-price/",
        views.CreditPriceDialog.as_view(),
        name="credit-price",
    ),
    path("costs/estimate-accuracy/", views.estimate_accuracy, name="estimate-accuracy"),
]
