"""The demo's shared account at the sandbox over sixty days: plan, top-ups, and spend outside the
portal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from dashboard.demo.history.plan import PAST_DAYS, OptionPool
from dashboard.demo.history.replay import Call, ReplayAnswer, build_call, run_calls
from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.shared.video_options import parse_faceless_options

MONTHLY_CREDITS = 1_500
OPENING_CREDITS = 900
TOP_UP_UNITS = 5  # of 100 credits
RENEWAL_DAYS = (PAST_DAYS - 34, PAST_DAYS - 4)
TOP_UP_FAILURE_DAY = PAST_DAYS - 20  # the first top-up from this day on fails
# Of the plan from that day to the next renewal. A top-up is due below a tenth of it, and none is
# tried for a day after one that failed: what is left then must pay for that day.
MONTHLY_CREDITS_AT_FAILURE = 4_000
MAX_CLIP_RATE = 2.1  # credits per second of the clip engines that the team uses
TOP_UP_PATH = "/v2/account/auto-topup"


class OutsideSpend(NamedTuple):
    day: int
    credits: int
    label: str
    content_type: str


OUTSIDE_SPENDS = (
    OutsideSpend(PAST_DAYS - 43, 45, "Stock photo pack", "stock-media"),
    OutsideSpend(PAST_DAYS - 15, 60, "Thumbnail set", "image"),
)
PROGRAM_DAY = PAST_DAYS - 3  # when a script with a token of its own made a video
PROGRAM_NAME = "nightly-shorts"


class PastAccount(NamedTuple):
    """`account` has the token of `var/demo.json`; `tokens` are those of the members, in order."""

    account: dict[str, Any]
    tokens: list[str]
    program_token: str
    offered: OptionPool
    character_genres: list[dict[str, Any]]
    clip_engine_ids: dict[str, int]  # by slug
    opened_at: datetime


def open_past_account(
    sandbox: SandboxAdmin, fields: dict[str, Any], opened_at: datetime, token_count: int
) -> PastAccount:
    """Open the account at that time, with a token for each member and one for a script."""
    wanted = {**fields, "monthly_credits": MONTHLY_CREDITS, "credits": OPENING_CREDITS}
    calls = [build_call(opened_at, "POST", "/_sandbox/accounts", name="account", body=wanted)]
    path = "/_sandbox/accounts/{account.account_id}/tokens"
    names = [f"token {number}" for number in range(token_count)]
    for name in (*names, PROGRAM_NAME):
        calls.append(build_call(opened_at, "POST", path, name=name, body={"label": name}))
    options = "/v2/faceless/options"
    member = {"token": "{account.token}"}
    calls.append(build_call(opened_at, "GET", options, name="options", **member))
    genres = "/v2/characters/genres"
    calls.append(build_call(opened_at, "GET", genres, name="character genres", **member))
    answers = run_calls(sandbox, calls)
    return PastAccount(
        {**wanted, **answers["account"].body},
        [str(answers[name].body["token"]) for name in names],
        str(answers[PROGRAM_NAME].body["token"]),
        read_offered(answers["options"].data),
        answers["character genres"].body["data"],
        read_clip_engine_ids(answers["options"].data),
        opened_at,
    )


def read_offered(data: dict[str, Any]) -> OptionPool:
    """The values that the past chooses from: English voices, and clip engines of a low price."""
    groups = parse_faceless_options(data).groups
    return OptionPool(
        [row["id"] for row in groups["voices"] if row["language"] == "English"],
        [row["id"] for row in groups["genres"]],
        [row["id"] for row in groups["image_engines"]],
        [
            row["id"]
            for row in groups["clip_engines"]
            if row["cost"][0]["credits_per_second"] <= MAX_CLIP_RATE
        ],
    )


def read_clip_engine_ids(data: dict[str, Any]) -> dict[str, int]:
    rows = parse_faceless_options(data).groups["clip_engines"]
    return {row["slug"]: row["id"] for row in rows}


def account_calls(account: PastAccount, now: datetime) -> Iterator[Call]:
    """What happens to the account besides its videos, without what would come after `now`."""
    for call in unbounded_account_calls(account):
        if datetime.fromisoformat(call["at"]) < now:
            yield call


def unbounded_account_calls(account: PastAccount) -> Iterator[Call]:
    opened_at = account.opened_at
    path = f"/_sandbox/accounts/{account.account['account_id']}"
    member = {"token": account.tokens[0]}
    wanted = {"enabled": True, "type": "dynamic-credits", "units": TOP_UP_UNITS}
    at = opened_at + timedelta(hours=1)
    yield build_call(at, "PUT", TOP_UP_PATH, name="top-up on", body=wanted, **member)
    for day in RENEWAL_DAYS:
        at = opened_at + timedelta(days=day)
        plan = {"subscription": "paid", "monthly_credits": MONTHLY_CREDITS}
        yield build_call(at, "PATCH", path, body=plan)
        grant = {"credits": -MONTHLY_CREDITS, "label": "Monthly credits", "content_type": "plan"}
        yield build_call(at, "POST", f"{path}/spend", body=grant)
    for spend in OUTSIDE_SPENDS:
        at = opened_at + timedelta(days=spend.day, hours=5)
        body = {
            "credits": spend.credits,
            "label": spend.label,
            "content_type": spend.content_type,
        }
        yield build_call(at, "POST", f"{path}/spend", body=body)
    at = opened_at + timedelta(days=TOP_UP_FAILURE_DAY)
    yield build_call(at, "PATCH", path, body={"monthly_credits": MONTHLY_CREDITS_AT_FAILURE})
    yield build_call(at, "PUT", "/_sandbox/settings", body={"top_up_charge": "fails_once"})
    for day in range(TOP_UP_FAILURE_DAY, PAST_DAYS):
        at = opened_at + timedelta(days=day, hours=12)
        yield build_call(at, "GET", TOP_UP_PATH, name=f"top-up {day}", **member)
    yield from program_calls(opened_at + timedelta(days=PROGRAM_DAY, hours=19), account)


def program_calls(at: datetime, account: PastAccount) -> Iterator[Call]:
    """A script makes a video on the account with its own token, through the API."""
    auth, path = {"token": account.program_token}, "/v2/faceless/{program.data.id}"
    draft = {"type": "b-roll", "title": "Headlines of the week"}
    yield build_call(at, "POST", "/v2/faceless", name="program", body=draft, **auth)
    script = {"topic": "headlines of the week", "duration": 60}
    at += timedelta(seconds=10)
    yield build_call(at, "PUT", f"{path}/scripts", body=script, **auth)
    at += timedelta(seconds=10)
    settings = {"voice_id": account.offered.voices[0], "aspect_ratio": "9:16"}
    yield build_call(at, "PATCH", path, body=settings, **auth)
    at += timedelta(seconds=10)
    yield build_call(at, "POST", f"{path}/render", **auth)


def top_up_failure_time(answers: dict[str, ReplayAnswer]) -> datetime | None:
    """When a look at the preference first showed a failed top-up."""
    looks: Sequence[ReplayAnswer] = [
        answer
        for name, answer in answers.items()
        if name.startswith("top-up ") and answer.data["consecutive_failures"]
    ]
    return min((answer.at for answer in looks), default=None)
