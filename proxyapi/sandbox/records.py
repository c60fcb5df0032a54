"""The rows of the world: what is kept of accounts, money, videos, jobs and requests.

Instants are seconds since the epoch, UTC; credits are whole numbers. No row holds a token:
of a token only its SHA-256 is kept.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Subscription = Literal["paid", "trial", "none", "expired"]
VideoType = Literal["ai-visuals", "ai-clips", "b-roll", "url-based"]
ScriptedKind = Literal[
    "faceless", "export", "text-to-video", "character", "voice-clone", "storyboard", "scene-clip"
]  # of a job whose outcome can be scripted
JobKind = Literal[ScriptedKind, "refund"]
Key = int | str


class Row(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)

    id: Any

    @property
    def sort_key(self) -> Any:
        """Where it stands among the rows of its kind, in order of making."""
        return self.id


class Account(Row):
    id: int
    name: str
    email: str
    email_verified: bool = True
    subscription: Subscription = "paid"
    plan: str = "Studio"
    ends_at: float | None = None
    lapsing: bool = False  # the subscription ends in the middle of the next render
    monthly_credits: int = 1000
    opening: int = 1000
    balance: int = 1000
    extra: int = 0  # the part of the balance that was bought on top; spent last
    payment_method: bool = True
    features: list[str] = Field(default_factory=list)
    bought_slots: int = 0  # of voice clones
    stored_bytes: int = 0  # of uploads
    free_used: dict[str, int] = Field(default_factory=dict)
    created_at: float
    updated_at: float


class Token(Row):
    id: str  # SHA-256 of the token
    account_id: int
    label: str = ""
    revoked: bool = False
    created_at: float
    number: int = 0  # in order of making

    @property
    def sort_key(self) -> int:
        return self.number

    @property
    def fingerprint(self) -> str:
        return self.id[:12]


class Entry(Row):
    """One row of an account's ledger. `source` is `api` or where else the spend came from."""

    id: int
    account_id: int
    label: str
    content_type: str
    credits: int  # signed, debits negative
    transaction_type: str
    source: str
    created_at: float


class Charge(Row):
    """One use of a charged feature, kept for the money audit; `credits` 0 is a free use.

    `answered` turns false when the answer that reported the charge did not arrive whole.
    `returned` is what was given back, which may be a part: one scene's of several.
    """

    id: int
    account_id: int
    feature: str
    resource: str
    credits: int
    created_at: float
    request: str = ""  # digest of method, path and body
    intent: str = ""  # digest of operation, body and what the resource was to become
    visit: int = 0  # the journal's number of the request
    answered: bool = True
    refunded: bool = False  # some of it
    returned: int = 0


class Asset(BaseModel):
    """A picture or film of a video. `text` says what it shows; `roll` counts its re-rolls; `used`
    is false for one that a PATCH left out of the video."""

    id: int
    type: Literal["image", "video"] = "image"
    source: Literal["scraped", "uploaded", "generated"]
    source_url: str | None = None
    text: str = ""
    file: str
    roll: int = 0
    used: bool = True


class Still(Row):
    """A picture by its file name: how it is to be drawn, or None if it came from outside."""

    id: str
    description: dict[str, Any] | None = None


class Video(Row):
    """A faceless video. `settings` holds what PATCH may set besides the named columns."""

    id: int
    video_id: int
    account_id: int
    type: VideoType
    title: str | None = None
    topic: str | None = None
    script: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    assets: list[Asset] = Field(default_factory=list)
    page: dict[str, Any] | None = None  # name and colour of the page that was scraped
    status: str | None = None
    file: str | None = None
    file_since: float = 0.0
    poster: str | None = None  # the file of a still
    failure: dict[str, str] | None = None
    job_id: int | None = None
    exports: list[dict[str, Any]] = Field(default_factory=list)
    created_at: float
    updated_at: float


class Job(Row):
    """Work on the sandbox clock. It ends after `seconds`, and not before its file is made."""

    id: int
    kind: JobKind
    resource_id: int
    statuses: list[str] = Field(min_length=1)
    shares: list[float] | None = None  # when the words in the middle come; None: evenly
    success: str = "completed"
    failure: dict[str, str] | None = None
    started_at: float
    seconds: float
    film: dict[str, Any] | None = None
    file: str | None = None
    made: bool = False
    ended: bool = False


class Outcome(Row):
    """A scripted way for the next job of a kind, or for the next job of one resource."""

    id: int
    kind: ScriptedKind
    resource_id: int | None = None
    statuses: list[str] = Field(min_length=1)
    failure: dict[str, str] | None = None


class TopUp(Row):
    """An account's auto top-up preference and what its rules remember. `id` = account id."""

    id: int
    enabled: bool = False
    type: Literal["extra-credits", "dynamic-credits"] | None = None
    plan_id: int | None = None
    units: int | None = None
    enabled_at: float | None = None
    consecutive_failures: int = 0
    failed_at: float | None = None
    day: str = ""
    successes_of_day: int = 0


class Window(Row):
    """Requests of one token in the current minute. `id` = SHA-256 of the token."""

    id: str
    since: float
    count: int = 0
    hits: list[float] = Field(default_factory=list)  # only for a sliding window


class JournalLine(Row):
    """One line of the journal. `status` is None when nothing was answered."""

    id: int
    at: float
    token: str | None
    method: str
    path: str
    status: int | None
    charge: int = 0
    fault: str | None = None


class Fault(Row):
    id: int
    action: str
    when: Literal["before", "after"] = "before"
    match: dict[str, Any] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
    times: int | None = None
    probability: float = 1.0
    seed: int = 0
    matched: int = 0
    fired: int = 0


class FileToRemove(Row):
    """A media file, by its name, that no row shows any more: it is removed once that is saved."""

    id: str


class SavedValue(Row):
    """A single value of the world: its seed, clock, settings or counters."""

    id: str
    value: Any
