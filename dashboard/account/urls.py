"""URLs of a user's account: sign-in, password, preferences."""

from __future__ import annotations

from allauth.account import views as allauth
from django.urls import include, path, re_path

from dashboard.account import notification_views, views

# The pages of allauth that Reelroom uses, with the URL names that allauth requires. Its other
# pages do not exist here: an operator adds users, and their e-mail address does not change.
ACCOUNT_URLS = [
    path("login/", allauth.login, name="account_login"),
    path("logout/", allauth.logout, name="account_logout"),
    path("inactive/", allauth.account_inactive, name="account_inactive"),
    path("signup/", allauth.signup, name="account_signup"),
    path("password/change/", allauth.password_change, name="account_change_password"),
    path("password/reset/", views.password_reset, name="account_reset_password"),
    path("password/reset/done/", allauth.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.PasswordResetFromKey.as_view(),
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done/",
        allauth.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
]

urlpatterns = [
    path("accounts/", include(ACCOUNT_URLS)),
    path("account/notifications/", notification_views.notifications, name="account-notifications"),
    path("preferences/theme/", views.set_theme, name="theme"),
    path("preferences/team/", views.switch_team, name="team"),
    path("session/", views.check_session, name="session"),
    path("service/", views.show_service_status, name="service"),
]
