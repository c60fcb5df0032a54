"""What a row of the catalog says about one endpoint: the words, without the rows.

Contract: pure data, standard library only; the rows are in `catalog.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_UPLOAD_S = 120.0  # seconds for all pieces of a form with files


class RetryPolicy(StrEnum):
    SAFE = "safe"  # repeating it costs nothing and changes nothing more: GETs, scrape-images
    NEVER = "never"  # PUT included: PUT …/scripts charges each time (pitfall 38)


class RequestBody(StrEnum):
    NONE = "none"
    JSON = "json"
    MULTIPART = "multipart"  # a file goes with it; without a file the row also takes JSON


class ExecutionEvidence(StrEnum):
    """What shows whether a call whose answer was lost was carried out."""

    NONE = "none"  # a read, or a write whose loss costs nothing
    STATUS = "status"  # the resource's status differs from before; then the ledger
    SCRIPT = "script"  # the script differs from a snapshot taken before; then the ledger
    LEDGER = "ledger"  # only a debit in the ledger
    IDEAS = "ideas"  # GET /ideas for the same keyword and network, before anything else
    SLOTS = "slots"  # the free slots before and after; then the ledger
    TOP_UP = "top_up"  # the preference, read back


_EVIDENCE_OPERATIONS = {
    ExecutionEvidence.LEDGER: "credits.history",
    ExecutionEvidence.IDEAS: "ideas.list",
    ExecutionEvidence.SLOTS: "voice_clones.slots",
    ExecutionEvidence.TOP_UP: "top_up.get",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint. `timeout` is in seconds and bounds the wait for the answer."""

    name: str
    method: str
    path: str
    body: RequestBody
    charging: bool  # it charges, or the spec does not say that it does not (pitfall 51)
    retry: RetryPolicy
    evidence: ExecutionEvidence = ExecutionEvidence.NONE
    timeout: float = 30.0
    needs_subscription: bool = True  # needs an active paid plan; all but three reads do
    method_documented: bool = True  # False: the spec shows no method, ours is a guess (pitfall 91)

    @property
    def area(self) -> str:
        """The resource's part of the name: `faceless` of `faceless.render`."""
        return self.name.partition(".")[0]

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """The names in the path template, in order."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def max_duration_s(self) -> float:
        """Seconds until its whole answer is in: first its files go out, then its own time runs."""
        sending = MAX_UPLOAD_S if self.body is RequestBody.MULTIPART else 0.0
        return sending + self.timeout

    @property
    def evidence_operation(self) -> str | None:
        """The name of the free read that gives the evidence; None where there is none."""
        if self.evidence is ExecutionEvidence.NONE:
            return None
        return _EVIDENCE_OPERATIONS.get(self.evidence, f"{self.area}.get")
