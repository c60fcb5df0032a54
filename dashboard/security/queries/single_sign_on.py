"""The single sign-on of a team, as its card on the security page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from dashboard.models import Membership, Role, SignInEvent, SignInOutcome, SingleSignOn
from dashboard.shared.access import has_permission
from dashboard.shared.email_domains import display_domain
from dashboard.shared.formatting import clock, day, join_names
from dashboard.shared.openid.authorization import redirect_uri
from dashboard.shared.roles import Permission

MAX_NAMES_IN_SENTENCE = 6
NO_SECRET = "Not set"  # noqa: S105
SECRET_HELP = "Encrypted, and never shown again."  # noqa: S105
WAITING_SECRET = "A new secret waits: sign-in uses it as soon as a test passes."  # noqa: S105
REQUIRE_TEXT = (
    "Passwords and passkeys stop working for everyone but owners, who keep a way in if the "
    "provider is down."
)
TEST_FIRST = "Available when a test has passed with the settings as saved."
SECRET_FIRST = "Set the client secret, then test."  # noqa: S105
SAVE_FIRST = "Save the issuer and the client ID first."
NO_SIGN_IN_DOMAIN = (
    "The sign-in page does not find your provider by an address until the operator of the portal "
    "allows your domain. The sign-in address works without."
)
OWNERS_ONLY = (
    "Only owners change this: whoever chooses the provider can sign in as any member of the team."
)


@dataclass(frozen=True, slots=True)
class SingleSignOnTestState:
    """The last test: `state` is that of a glyph, `pill` the words in the card's head."""

    state: str
    text: str
    pill: str = ""


@dataclass(frozen=True, slots=True)
class SingleSignOnCard:
    """`absent` names members who have not signed in with it; `require_why` and `test_why` say why
    the switch and the test are not available, "" if they are."""

    row: SingleSignOn | None
    may_change: bool
    redirect_uri: str
    sign_in_url: str
    secret: str
    waiting: str
    is_required: bool
    require_why: str
    absent: str
    test_why: str
    test: SingleSignOnTestState
    sign_in_domains: str
    require_text: str = REQUIRE_TEXT
    owners_only: str = OWNERS_ONLY

    @property
    def secret_act(self) -> str:
        return "Set" if self.secret == NO_SECRET else "Replace"

    @property
    def secret_help(self) -> str:
        return self.waiting or SECRET_HELP

    @property
    def addresses(self) -> list[tuple[str, str, str]]:
        """Return each address with its label, and whom it is for."""
        rows = [("Redirect URI", "enter it at your provider", self.redirect_uri)]
        if self.sign_in_url:
            rows.append(("Sign-in address", "give it to your members", self.sign_in_url))
        return rows

    @property
    def may_require(self) -> bool:
        return self.may_change and (self.is_required or not self.require_why)

    @property
    def switch_why(self) -> str:
        """Return why the switch is disabled."""
        return self.require_why if self.may_change else OWNERS_ONLY


def load_single_sign_on_card(reader: Membership) -> SingleSignOnCard:
    row = SingleSignOn.objects.filter(team=reader.team).first()
    may_change = has_permission(reader, Permission.MANAGE_TEAM)
    if row is None:
        return build_empty_card(may_change)
    secrets = {one.is_current: one for one in row.secrets.select_related("set_by")}
    current = secrets.get(True)
    is_tested = row.is_tested()
    return SingleSignOnCard(
        row=row,
        may_change=may_change,
        redirect_uri=redirect_uri(),
        sign_in_url=settings.PORTAL_URL + reverse("team-single-sign-on", args=[row.pk]),
        secret=f"Set {day(current.set_at)} by {current.set_by or 'a former member'}"
        if current
        else NO_SECRET,
        waiting=WAITING_SECRET if False in secrets else "",
        is_required=row.is_required,
        require_why="" if is_tested else TEST_FIRST,
        absent=absent_members_sentence(reader),
        test_why="" if secrets else SECRET_FIRST,
        test=describe_last_test(row, is_tested=is_tested),
        sign_in_domains=sign_in_domains_sentence(reader),
    )


def build_empty_card(may_change: bool) -> SingleSignOnCard:
    return SingleSignOnCard(
        row=None,
        may_change=may_change,
        redirect_uri=redirect_uri(),
        sign_in_url="",
        secret=NO_SECRET,
        waiting="",
        is_required=False,
        require_why=TEST_FIRST,
        absent="",
        test_why=SAVE_FIRST,
        test=SingleSignOnTestState("draft", SAVE_FIRST),
        sign_in_domains="",
    )


def sign_in_domains_sentence(reader: Membership) -> str:
    """Say for which addresses the sign-in page finds the provider."""
    domains = [display_domain(row.domain) for row in reader.team.sign_in_domains.all()]
    if not domains:
        return NO_SIGN_IN_DOMAIN
    return f"The sign-in page leads addresses at {join_names(domains)} to your provider."


def describe_last_test(row: SingleSignOn, *, is_tested: bool) -> SingleSignOnTestState:
    at = clock(row.tested_at)
    if not at:
        return SingleSignOnTestState("draft", "Not tested yet.", "Not tested")
    if is_tested:
        return SingleSignOnTestState(
            "completed", f"Test of {at}: {row.test_result}", f"Tested {at}"
        )
    if row.test_passed:
        text = f"The settings were changed since the test of {at}. Test them again."
        return SingleSignOnTestState("late", text, "Not tested")
    text = f"The test of {at} failed. {row.test_result}"
    return SingleSignOnTestState("failed", text, "Test failed")


def absent_members_sentence(reader: Membership) -> str:
    """Name the members, besides owners, of whom no sign-in with it is kept."""
    signed_in = SignInEvent.objects.filter(
        outcome=SignInOutcome.SIGNED_IN,
        method__startswith="single sign-on",
        user__memberships__team=reader.team,
    )
    members = reader.team.memberships.exclude(role=Role.OWNER).select_related("user")
    absent = members.exclude(user__in=signed_in.values("user"))
    names = [member.user.first_name for member in absent]
    if not names:
        return ""
    has = "has" if len(names) == 1 else "have"
    people = join_names(names, most=MAX_NAMES_IN_SENTENCE)
    return f"{people} {has} not signed in with it yet."
