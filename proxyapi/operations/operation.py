"""The columns of the operation table; the rows are in `table`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from django.db.models import TextChoices

from proxyapi.upstream.endpoint import Endpoint


class JobKind(TextChoices):
    """The resources that are polled until they are finished."""

    FACELESS = "faceless"
    CLIP = "clip"
    STORYBOARD = "storyboard"
    CLONE = "clone"
    CHARACTER = "character"


class ExecutionEvidence(StrEnum):
    """The evidence that a call whose answer was lost was carried out."""

    NONE = "none"  # a read, or a write whose loss costs nothing
    STATUS = "status"  # the resource's status differs from before; then the ledger
    SCRIPT = "script"  # the script differs from a snapshot taken before; then the ledger
    LEDGER = "ledger"  # only a debit in the ledger
    IDEAS = "ideas"  # GET /ideas for the same keyword and network, before anything else
    SLOTS = "slots"  # the free slots before and after; then the ledger
    TOP_UP = "top_up"  # the preference, read back


EVIDENCE_READS = {
    ExecutionEvidence.LEDGER: "credits.history",
    ExecutionEvidence.IDEAS: "ideas.list",
    ExecutionEvidence.SLOTS: "voice_clones.slots",
    ExecutionEvidence.TOP_UP: "top_up.get",
}


class RatePool(StrEnum):
    """Rate limits of an account besides those of its tokens (spec, Limits)."""

    PREVIEWS = "previews"
    SCRAPING = "scraping"

    def bucket_name(self, account: str) -> str:
        """The name of the pool's bucket; `account` is `Account.bucket`."""
        return f"{self}:{account}"


class PriceRule(StrEnum):
    """Where the price of a charge is read before it is sent."""

    FREE = "free"
    COST_MAP = "cost map"  # GET /credits/costs, at `Price.cost_map_key`
    ESTIMATE = "estimate"  # the free read that `Price.estimate_operation` names
    LAST_RENDER = "last render"  # no endpoint has it: the cost of the video's last render
    UNKNOWN = "unknown"  # not known before the charge


@dataclass(frozen=True, slots=True)
class Price:
    """`fallback`: credits from the spec, used if the cost map lacks the key; None if the spec has
    none.

    `exact`: the displayed price is the one charged (spec, Credit charges); others are approximate.
    `may_be_free`: the spec does not say whether it charges (pitfalls 36, 51).
    """

    rule: PriceRule
    cost_map_key: str = ""
    fallback: Decimal | None = None
    estimate_operation: str = ""
    exact: bool = False
    may_be_free: bool = False


@dataclass(frozen=True, slots=True)
class Operation(Endpoint):
    """One endpoint with everything that is known about it."""

    kind: JobKind | None = None  # of the resource that it reads, makes or changes
    creates: bool = False  # it creates the resource, whose id is in its answer
    starts_rendering: bool = False  # the resource is polled from then on
    restarts_failed: bool = False  # it starts from a failed resource, not from a draft
    refundable: bool = False  # the upstream refunds a failed one (spec)
    price: Price = Price(PriceRule.FREE)
    rate_pool: RatePool | None = None
    keeps_result: bool = False  # its answer is stored: no documented read returns it again
    evidence: ExecutionEvidence = ExecutionEvidence.NONE
    # The list in the resource that grows. It is not documented: a record without it proves nothing,
    # and the ledger decides.
    part_list: str = ""
    # It adds or changes one part of a video, whose own state stays: several may be open at once,
    # one for each part.
    changes_part: bool = False
    adds_parts: bool = False  # several at once, such as the pictures of a preview
    label: str = ""  # a heading: "Render, B-roll"
    noun: str = "request"  # in a sentence: "the render was sent"
    request_text: str = "make a request"  # in an approval request, before the title

    @property
    def writes_script(self) -> bool:
        return self.evidence is ExecutionEvidence.SCRIPT

    @property
    def is_charged_create(self) -> bool:
        """Whether it creates a paid resource, whose id is lost with a lost answer."""
        return self.charging and self.creates

    @property
    def starts_job(self) -> bool:
        return self.starts_rendering or self.is_charged_create

    @property
    def evidence_operation(self) -> str | None:
        """The name of the free read that returns the evidence, or None."""
        if self.evidence is ExecutionEvidence.NONE:
            return None
        return EVIDENCE_READS.get(self.evidence, f"{self.area}.get")
