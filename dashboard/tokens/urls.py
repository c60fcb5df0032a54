"""URLs of API tokens."""

from __future__ import annotations

from django.urls import path

from dashboard.tokens import views

urlpatterns = [
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/accounts/<uuid:account_id>/archives/", views.archive, name="account-archives"),
    path(
        "tokens/accounts/<uuid:account_id>/restorations/",
        views.restore,
        name="account-restorations",
    ),
    path("tokens/<uuid:token_id>/names/", views.RenameToken.as_view(), name="token-names"),
    path("tokens/<uuid:token_id>/removals/", views.RemoveToken.as_view(), name="token-removals"),
]
