"""Forms to invite people, and to join with a new account."""

from __future__ import annotations

import re
from typing import Any

from allauth.account.adapter import get_adapter
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.utils import timezone

from dashboard.models import MAX_INVITATION_MESSAGE_CHARS, Membership, Role, Team, User
from dashboard.models.email_address import address_key, parse_address
from dashboard.shared.forms import TOO_LONG, PortalForm
from dashboard.shared.roles import ROLE_DESCRIPTIONS, invitable_roles
from dashboard.shared.team_security import check_address_allowed
from dashboard.shared.text_validation import reject_invisible
from proxyapi.refusals import Refusal

MAX_ADDRESSES = 20
MAX_SENTENCES = 20  # about addresses that are not invited
MAX_LIST_CHARS = 6000
# An address, in angle brackets after a name or alone: `"Berg, Anna" <anna@brightcut.example>`,
# `Anna Berg <anna@…>`, `Berg, Anna <anna@…>`, `anna@…`. The name is bounded, so that no text takes
# more than a linear time.
PASTED_ADDRESS = re.compile(
    r"""(?:"[^"\n]{0,200}"\s*|(?:[^@,;\n"<>]{1,100},)?[^@,;\n"<>]{0,100})<([^<>\n]*)>(?![^\s,;])"""
    r"|[^\s,;]+"
)
ROLE_ORDER = (Role.PRODUCER, Role.VIEWER, Role.TREASURER, Role.ADMIN)
MAX_NAME_CHARS = User._meta.get_field("name").max_length or 0


class InvitePeopleForm(PortalForm):
    """Addresses as they are pasted. `cleaned_data["addresses"]` are those that can be invited, in
    their stored form, each once; `rest` are the others as typed, and `problems` says why."""

    addresses = forms.CharField(
        label="E-mail addresses",
        help_text="Separate several by commas, spaces or lines. Names beside them are ignored.",
        # No maxlength: the browser would cut off the end of a pasted list.
        validators=[MaxLengthValidator(MAX_LIST_CHARS, TOO_LONG)],
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off", "autofocus": True}),
        error_messages={"required": "Enter at least one e-mail address."},
    )
    message = forms.CharField(
        label="Message",
        required=False,
        max_length=MAX_INVITATION_MESSAGE_CHARS,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, by: Membership, data: Any = None) -> None:
        super().__init__(data)
        self.by, self.rest, self.problems = by, list[str](), list[str]()
        self.fields["addresses"].widget.attrs["data-addresses"] = MAX_ADDRESSES
        self.fields["addresses"].limit = f"up to {MAX_ADDRESSES}"  # type: ignore[attr-defined]
        limit = f"optional, {MAX_INVITATION_MESSAGE_CHARS} characters"
        self.fields["message"].limit = limit  # type: ignore[attr-defined]
        roles = [role for role in ROLE_ORDER if role in invitable_roles(by.role)]
        choices = [(role.value, role.label) for role in roles]
        self.fields["role"] = forms.ChoiceField(initial=Role.PRODUCER, choices=choices)
        self.role_rows = [(role, ROLE_DESCRIPTIONS[role]) for role in roles]
        reject_invisible(self.fields["message"], lines=True)

    @property
    def chosen_role(self) -> str:
        return str(self["role"].value())

    def clean_addresses(self) -> list[str]:
        typed: dict[str, str] = {}
        for match in PASTED_ADDRESS.finditer(self.cleaned_data["addresses"]):
            typed.setdefault(address_key(match[1] or match[0]), match[0].strip())
        if not typed:
            raise ValidationError("Enter at least one e-mail address.")
        problems = self.address_problems(list(typed))
        invitable = [address for address in typed if address not in problems]
        invited = invitable[:MAX_ADDRESSES]
        self.rest = [text for address, text in typed.items() if address not in invited]
        self.problems = list(problems.values())[:MAX_SENTENCES]
        if unnamed := len(problems) - len(self.problems):
            self.problems.append(f"{unnamed} more of the list cannot be invited.")
        if later := len(invitable) - len(invited):
            self.problems.append(
                f"{later} more {'address stays' if later == 1 else 'addresses stay'} in the list, "
                f"because {MAX_ADDRESSES} are invited at once. Send again to invite them."
            )
        if not invited:
            raise ValidationError(self.problems)
        return invited

    def keep_rest(self) -> None:
        """Leave in the field what was not invited, and say why. To be shown after the others
        were."""
        # Value by value: a QueryDict that is unpacked gives lists.
        typed = {name: self.data[name] for name in self.data}
        self.data = {**typed, "addresses": "\n".join(self.rest)}
        self.add_error("addresses", self.problems)

    def address_problems(self, addresses: list[str]) -> dict[str, str]:
        """Return a sentence for each address that cannot be invited. Only this team is looked at:
        whether an address has an account elsewhere does not show."""
        rows = Membership.with_deactivated.filter(team=self.by.team, user__email__in=addresses)
        members = dict(rows.values_list("user__email", "deactivated_at"))
        pending = self.by.team.invitations.pending().filter(expires_at__gt=timezone.now())
        invited = set(pending.filter(address__in=addresses).values_list("address", flat=True))
        problems = {}
        for address in addresses:
            if not parse_address(address):
                problems[address] = malformed_text(address)
            elif members.get(address):
                problems[address] = f"{address} is deactivated. Reactivate that member instead."
            elif address in members:
                problems[address] = f"{address} is already a member."
            elif address in invited:
                problems[address] = f"{address} is already invited. Resend that invitation."
            elif problem := domain_problem(self.by.team, address):
                problems[address] = problem
        return problems


class JoinTeamForm(PortalForm):
    """The name and the password of a new account."""

    name = forms.CharField(
        label="Your name",
        max_length=MAX_NAME_CHARS,
        error_messages={"required": "Enter your name."},
    )
    password1 = forms.CharField(
        label="Password",
        strip=False,
        max_length=4096,
        help_text="At least 10 characters, and not a common password.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Enter a password."},
    )
    password2 = forms.CharField(
        label="Repeat password",
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Repeat the password."},
    )

    def __init__(self, address: str, data: Any = None) -> None:
        super().__init__(data)
        self.address = address
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        reject_invisible(self.fields["name"])

    def clean_password1(self) -> str:
        password: str = get_adapter().clean_password(
            self.cleaned_data["password1"], User(email=self.address)
        )
        return password

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        first, second = cleaned.get("password1"), cleaned.get("password2")
        if first and second and first != second:
            self.add_error("password2", "The two passwords differ.")
        return cleaned


def malformed_text(typed: str) -> str:
    """Return what is wrong with a text that is no address."""
    local, _, domain = typed.rpartition("@")
    if typed.isprintable() and not local.isascii() and parse_address(f"a@{domain}"):
        return f"{typed[:80]} has other letters than a to z before the @. No mail can reach it."
    return f"{typed[:80]} is not an e-mail address."


def domain_problem(team: Team, address: str) -> str:
    """Return why the team does not accept addresses of this domain; "" if it does."""
    try:
        check_address_allowed(team, address)
    except Refusal as refusal:
        return refusal.sentence
    return ""
