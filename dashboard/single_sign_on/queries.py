"""Find the single sign-on of an e-mail address."""

from __future__ import annotations

from dashboard.models import SingleSignOn
from dashboard.shared.email_domains import address_domain
from proxyapi.refusals import Refusal

NO_SINGLE_SIGN_ON = (
    "No team signs in with single sign-on for {domain}. Sign in with your password, or open the "
    "sign-in address that an owner of your team gives you."
)


def find_single_sign_on(address: str) -> SingleSignOn:
    """Return the single sign-on of the team that an operator allowed the domain.

    The domain alone decides: for an address that has an account and one that has none the answer is
    the same. Members' addresses do not count: one member with a mailbox of another team's domain
    would send that team's people elsewhere. Raises `Refusal`.
    """
    domain = address_domain(address)
    rows = SingleSignOn.objects.filter(
        team__sign_in_domains__domain=domain, secrets__is_current=True
    )
    if (row := rows.select_related("team").first()) is None:
        raise Refusal(NO_SINGLE_SIGN_ON.format(domain=domain), "address")
    return row
