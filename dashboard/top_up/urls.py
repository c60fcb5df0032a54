"""URLs of the automatic top-up."""

from __future__ import annotations

from django.urls import path

from dashboard.top_up import views

urlpatterns = [
    path("top-up/", views.top_up, name="top-up"),
    path("top-up/state/", views.top_up_state, name="top-up-state"),
    path("top-up/what-if/", views.what_if, name="top-up-what-if"),
    path("top-up/changes/", views.ChangeSetting.as_view(), name="top-up-changes"),
    path("top-up/packs/", views.add_credit_pack, name="credit-packs"),
    path(
        "top-up/packs/<int:pack_id>/removals/",
        views.remove_credit_pack,
        name="credit-pack-removals",
    ),
]
