"""Find the single sign-on of an e-mail address."""

from __future__ import annotations

from dashboard.models import SingleSignOn
from proxyapi.refusals import Refusal

NO_SINGLE_SIGN_ON = (
    "No team signs in with single sign-on for {domain}. Sign in with your password, or open the "
    "sign-in address that an owner of your team gives you."
)
SEVERAL_TEAMS = (
    "Several teams sign in with single sign-on for {domain}. Open the sign-in address that an "
    "owner of your team gives you."
)


def find_single_sign_on(address: str) -> SingleSignOn:
    """Return the single sign-on of the one team that has a member with the same domain.

    The domain alone decides: for an address that has an account and one that has none the answer is
    the same. Members' addresses were reached by mail, so no team can claim the domain of another.
    Raises `Refusal`.
    """
    domain = address.rpartition("@")[2].lower()
    of_domain = SingleSignOn.objects.filter(
        team__memberships__user__email__iendswith=f"@{domain}", secrets__is_current=True
    )
    rows = list(of_domain.select_related("team").distinct()[:2])
    if len(rows) == 1:
        return rows[0]
    raise Refusal((SEVERAL_TEAMS if rows else NO_SINGLE_SIGN_ON).format(domain=domain), "address")
