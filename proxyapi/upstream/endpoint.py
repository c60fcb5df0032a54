"""What the client needs to know of one endpoint; the table of endpoints is passed to it.

Contract: pure data, standard library only. The rows are in `proxyapi/operations/table.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_UPLOAD_S = 120.0  # seconds for all pieces of a form with files


class RetryPolicy(StrEnum):
    SAFE = "safe"  # repeating it costs and changes nothing: GETs, scrape-images
    NEVER = "never"  # PUT included: PUT …/scripts charges each time (pitfall 38)


class RequestBody(StrEnum):
    NONE = "none"
    JSON = "json"
    MULTIPART = "multipart"  # with a file; without one the endpoint also accepts JSON


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint. `timeout` is in seconds and bounds the wait for the answer."""

    name: str
    method: str
    path: str
    body: RequestBody
    charging: bool  # it charges, or the spec does not exclude it (pitfall 51)
    retry: RetryPolicy
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
        """Seconds until the whole answer is received: the upload of its files, then the timeout."""
        sending = MAX_UPLOAD_S if self.body is RequestBody.MULTIPART else 0.0
        return sending + self.timeout
