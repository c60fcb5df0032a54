"""The data of the page of one's own account."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings
from django.http.request import validate_host
from django.urls import reverse
from django.utils import timezone

from dashboard.account.notifications import NotificationRow, load_notification_rows
from dashboard.account.queries.sessions import SessionRow, load_session_rows
from dashboard.models import Membership, SignInOutcome, User
from dashboard.shared.http import TeamRequest
from dashboard.shared.member_token import load_own_token
from dashboard.shared.openid.session_teams import account_change_obstacle
from dashboard.shared.roles import Permission, role_allows
from dashboard.shared.token_status import TokenStatus, build_token_status

FEW_RECOVERY_CODES = 2  # of which the page warns
PASSWORD_OUTCOMES = (SignInOutcome.PASSWORD_CHANGED, SignInOutcome.PASSWORD_RESET)


@dataclass(frozen=True, slots=True)
class PasskeyRow:
    id: int
    name: str
    added_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class AppState:
    added_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class RecoveryCodesState:
    """`used`: of each code whether it was used; the codes themselves are shown only once."""

    made_at: datetime
    used: tuple[bool, ...]

    @property
    def left(self) -> int:
        return self.used.count(False)

    @property
    def are_few(self) -> bool:
        return self.left <= FEW_RECOVERY_CODES


@dataclass(frozen=True, slots=True)
class OwnToken:
    last_four: str
    account: str
    status: TokenStatus
    checked_at: datetime | None


@dataclass(frozen=True, slots=True)
class AccountPage:
    """`obstacle`: why this session changes nothing of the person; `passkey_obstacle`: why this
    browser makes no passkey; `localhost_url`: of this page at an address where it makes some, if
    the reader is at an IP address of this machine."""

    note: str
    obstacle: str
    pending_email: str
    app: AppState | None
    codes: RecoveryCodesState | None
    passkeys: tuple[PasskeyRow, ...]
    passkey_obstacle: str
    localhost_url: str
    sessions: tuple[SessionRow, ...]
    has_password: bool
    password_changed_at: datetime | None
    notifications: Sequence[NotificationRow]
    keeps_token: bool
    token: OwnToken | None

    @property
    def has_second_factor(self) -> bool:
        return bool(self.app or self.passkeys)

    @property
    def other_sessions(self) -> int:
        return sum(not session.is_current for session in self.sessions)


def build_account_page(request: TeamRequest) -> AccountPage:
    """Five queries."""
    user, membership = request.user, request.membership
    rows = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    passkeys = build_passkey_rows(rows)
    key = request.session.session_key or ""
    changes = user.sign_in_events.filter(outcome__in=PASSWORD_OUTCOMES).order_by("-happened_at")
    return AccountPage(
        note=f"{user.email}, {membership.get_role_display().lower()} of {membership.team.name}.",
        obstacle=account_change_obstacle(request.session, user.pk),
        pending_email=user.pending_email if is_email_change_pending(user) else "",
        app=build_app_state(rows),
        codes=build_codes_state(rows),
        passkeys=passkeys,
        passkey_obstacle=find_passkey_obstacle(request),
        localhost_url=find_localhost_url(request),
        sessions=load_session_rows(user, key, {row.id: row.name for row in passkeys}),
        has_password=user.has_usable_password(),
        password_changed_at=changes.values_list("happened_at", flat=True).first(),
        notifications=load_notification_rows(user),
        keeps_token=role_allows(membership.role, Permission.KEEP_TOKEN),
        token=build_own_token(membership),
    )


def build_own_token(reader: Membership) -> OwnToken | None:
    """Return the token that the reader's work runs on, or the best of those that do not work."""
    token = load_own_token(reader)
    if token is None:
        return None
    status = build_token_status(token)
    return OwnToken(token.last_four, token.account.label, status, token.checked_at)


def is_email_change_pending(user: User) -> bool:
    if user.pending_email_at is None:
        return False
    lifetime = timedelta(seconds=settings.EMAIL_CHANGE_TIMEOUT)
    return bool(user.pending_email) and timezone.now() < user.pending_email_at + lifetime


def build_app_state(rows: Iterable[Authenticator]) -> AppState | None:
    app = next((row for row in rows if row.type == Authenticator.Type.TOTP), None)
    return AppState(app.created_at, app.last_used_at) if app else None


def build_codes_state(rows: Iterable[Authenticator]) -> RecoveryCodesState | None:
    codes = next((row for row in rows if row.type == Authenticator.Type.RECOVERY_CODES), None)
    if codes is None:
        return None
    count = len(RecoveryCodes(codes).generate_codes())
    mask = codes.data["used_mask"]
    return RecoveryCodesState(codes.created_at, tuple(bool(mask & 1 << i) for i in range(count)))


def build_passkey_rows(rows: Iterable[Authenticator]) -> tuple[PasskeyRow, ...]:
    return tuple(
        PasskeyRow(row.pk, row.wrap().name, row.created_at, row.last_used_at)
        for row in rows
        if row.type == Authenticator.Type.WEBAUTHN
    )


def find_passkey_obstacle(request: TeamRequest) -> str:
    """Passkeys belong to a host name: browsers make none for an IP address, or without TLS but on
    this machine."""
    host = urlsplit(f"//{request.get_host()}").hostname or ""
    try:
        ip_address(host)
    except ValueError:
        is_local = host == "localhost"
        return "" if request.is_secure() or is_local else "Passkeys need https."
    return "Passkeys need a host name, and you opened this portal by an IP address."


def find_localhost_url(request: TeamRequest) -> str:
    address = urlsplit(f"//{request.get_host()}")
    try:
        is_loopback = ip_address(address.hostname or "").is_loopback
    except ValueError:
        return ""
    if not is_loopback or not validate_host("localhost", settings.ALLOWED_HOSTS):
        return ""
    port = f":{address.port}" if address.port else ""
    return f"{request.scheme}://localhost{port}{reverse('account')}#passkeys"
