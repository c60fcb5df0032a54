"""URLs of a user's account: sign-in, password, second factor, sessions, preferences."""

from __future__ import annotations

from allauth.account import views as allauth
from django.urls import include, path, re_path

from dashboard.account.views import (
    account,
    notifications,
    passkeys,
    preferences,
    second_factor,
    sessions,
    sign_in,
)

# The pages of allauth that Reelroom uses, with the URL names that allauth requires. Its other
# pages do not exist here: an owner or admin invites people.
ALLAUTH_URLS = [
    path("login/", sign_in.sign_in, name="account_login"),
    path("login/second-factor/", sign_in.authenticate, name="mfa_authenticate"),
    path("login/passkey/", sign_in.sign_in_by_passkey, name="mfa_login_webauthn"),
    path("login/cancellations/", sign_in.cancel_sign_in, name="sign-in-cancellations"),
    path("logout/", allauth.logout, name="account_logout"),
    path("inactive/", allauth.account_inactive, name="account_inactive"),
    path("signup/", allauth.signup, name="account_signup"),
    path("password/change/", sign_in.password_change, name="account_change_password"),
    path("password/reset/", sign_in.password_reset, name="account_reset_password"),
    path("password/reset/done/", allauth.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        sign_in.PasswordResetFromKey.as_view(),
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done/",
        allauth.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
]

# The page of one's own account. Who has to set up a second factor may use only these.
ACCOUNT_URLS = [
    path("", account.show_account, name="account"),
    path("profile/", account.update_profile, name="account-profile"),
    path("email/withdrawals/", account.withdraw_email, name="email-withdrawals"),
    path("email/confirmations/<str:key>/", account.confirm_email, name="email-confirmation"),
    path("confirmations/", account.ConfirmPerson.as_view(), name="confirmations"),
    path("notifications/", notifications.notifications, name="account-notifications"),
    path("app/", second_factor.set_up_app, name="account-app"),
    path("app/cancellations/", second_factor.cancel_set_up, name="account-app-cancellations"),
    path("app/removals/", second_factor.TurnOffApp.as_view(), name="account-app-removals"),
    path("recovery-codes/", second_factor.RenewCodes.as_view(), name="recovery-codes"),
    path("passkeys/", passkeys.AddPasskey.as_view(), name="passkeys"),
    path("passkeys/options/", passkeys.passkey_options, name="passkey-options"),
    path(
        "passkeys/<int:passkey_id>/names/", passkeys.RenamePasskey.as_view(), name="passkey-names"
    ),
    path(
        "passkeys/<int:passkey_id>/removals/",
        passkeys.RemovePasskey.as_view(),
        name="passkey-removals",
    ),
    path("sessions/<int:session_id>/ends/", sessions.end_one_session, name="session-ends"),
    path("sessions/ends/", sessions.end_all_other_sessions, name="other-session-ends"),
]

urlpatterns = [
    path("accounts/", include(ALLAUTH_URLS)),
    path("account/", include(ACCOUNT_URLS)),
    path("preferences/theme/", preferences.set_theme, name="theme"),
    path("preferences/team/", preferences.switch_team, name="team"),
    path("session/", preferences.check_session, name="session"),
    path("service/", preferences.show_service_status, name="service"),
]
