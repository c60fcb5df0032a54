"""One call of a script: who calls, with which key, until when it waits, and what it used."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from proxyapi.models import ApiKey, Charge, Job, Token

DEFAULT_WAIT_S, MAX_WAIT_S = 20.0, 300.0
WAIT_RE = re.compile(r"(?:^|[,;\s])wait\s*=\s*(\d{1,6})(?:$|[,;\s])")


@dataclass(slots=True)
class Call:
    """`until` is when it stops waiting for its turn, in monotonic seconds; `wait_s` and the figures
    for the log are seconds."""

    key: ApiKey
    client_ip: str = ""
    wait_s: float = DEFAULT_WAIT_S
    quote_id: str | None = None  # as the script sent it
    token: Token = field(init=False)  # set where its rights are checked
    id: UUID = field(default_factory=uuid4)
    started: float = field(default_factory=time.monotonic)
    limit_wait_s: float | None = None  # until its key may send; None: not counted yet
    waited_s: float = 0.0
    service_s: float = 0.0
    service_requests: int = 0
    is_replayed: bool = False
    charge: Charge | None = None
    job: Job | None = None

    @property
    def until(self) -> float:
        return self.started + self.wait_s


def waiting_time(prefer: str) -> float:
    """Seconds that a request waits for its turn: the `wait` of its Prefer header (RFC 7240)."""
    asked = WAIT_RE.search(prefer.lower())
    return min(float(asked[1]), MAX_WAIT_S) if asked else DEFAULT_WAIT_S
