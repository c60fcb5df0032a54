"""Why a single sign-on ended, as sentences for the person. They contain no secret and no token."""

from __future__ import annotations

from proxyapi.refusals import Refusal


class SingleSignOnFailed(Refusal):
    """Nothing was changed and nobody was signed in."""


class ProviderFailed(SingleSignOnFailed):
    """The provider did not answer, or what it answered cannot be used."""


class SignInRefused(SingleSignOnFailed):
    """The provider knows the person, but they may not enter the team. `address` is theirs."""

    def __init__(self, sentence: str, address: str, reason: str) -> None:
        super().__init__(sentence)
        self.address = address
        self.reason = reason  # for the audit log
