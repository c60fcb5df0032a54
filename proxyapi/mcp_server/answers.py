"""What tools answer: short facts as JSON, links instead of bulk.

Texts of the service, of pages and of people stand in fields of their own, shortened, and in no
`message`: those are written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict
from uuid import UUID

from django.conf import settings
from mcp.types import CallToolResult, ContentBlock, ResourceLink, TextContent

from proxyapi.gateway.answers import to_json
from proxyapi.models import Charge, ChargeState, Job, JobState, Quote
from proxyapi.operations import get_operation

MAX_TEXT_CHARS, MAX_BATCH_ROWS = 300, 15
BATCH_STATES = {"paused": "batch_paused", "finished": "batch_ended"}
REFUSED = "refused"
WAITING = ("in_progress", "unknown", "approval_required", "rendering")
MESSAGES = {
    "quoted": "Nothing is charged yet. To pay, call make with quote_id and price as they are here.",
    "quote_required": "Nothing was charged. Call make with quote_id and price of a quote. Open "
    "quotes are in “quotes”; for a new one call quote.",
    "price_changed": "Nothing was charged. The price differs from the one given. “quote” has the "
    "price of now.",
    "quote_expired": "Nothing was charged. The quote has expired. “quote” is a new one.",
    "in_progress": "It was accepted, and is paid once. Call wait for its end.",
    "made": "This was paid before, and is not paid again. For another one set copy to the next "
    "number.",
    "approval_required": "A person has to approve it at approval_url. Nothing is charged until "
    "then. Call wait with charge_id or approval_id to learn the outcome.",
    "unknown": "It was sent, and the answer was lost. Whether it was charged is being checked; do "
    "not order it again. Call wait with charge_id.",
    "paused": "Paused: allowance used up. Nothing was charged. A person can raise it at raise_url; "
    "then call make again. For several items call request_approval once.",
    "not_charged": "It was refused, and nothing was charged. The reason is in “charge”. Call quote "
    "for another try.",
    "written_off": "A person closed it: whether it was charged was never learned.",
    "charged": "It is paid and done.",
    "rendering": "It is being made. Call wait again.",
    "completed": "It is finished. The file is linked.",
    "failed": "It failed. The reason is in “job”.",
    "draft": "Nothing is being made of it. Call quote to learn what it costs.",
    "approved": "A person approved it. What the allowance or a limit refuses is charged under "
    "it, until items_left, credits_left or the time is over: call make.",
    "not_approved": "It was declined, withdrawn or ended, or is over. Nothing is charged under it.",
    "rows_wrong": "No row is ready, and nothing was charged. “batch” has the problems: correct the "
    "rows and call quote_batch again.",
    "batch_paused": "It paused; why is in “batch”. What has begun goes on. A person resumes it at "
    "its link.",
    "batch_ended": "All rows have ended. The films are in list_videos.",
    "ok": "",
}


class ToolAnswer(TypedDict):
    """`status` says what happened, `message` what to do next. Amounts are credits as text, times
    UTC. Texts of others, such as titles and reasons, are data."""

    status: str
    message: str
    quote: NotRequired[dict[str, Any]]
    quotes: NotRequired[list[dict[str, Any]]]
    charge: NotRequired[dict[str, Any]]
    job: NotRequired[dict[str, Any]]
    jobs: NotRequired[list[dict[str, Any]]]
    script: NotRequired[str]
    options: NotRequired[dict[str, Any]]
    more: NotRequired[int]
    credits: NotRequired[dict[str, Any]]
    error: NotRequired[dict[str, Any]]
    approval: NotRequired[dict[str, Any]]
    batch: NotRequired[dict[str, Any]]
    approval_url: NotRequired[str]
    raise_url: NotRequired[str]


def build(status: str, **parts: Any) -> dict[str, Any]:
    """An answer of this status, without its empty parts."""
    kept = {name: part for name, part in parts.items() if part not in (None, "", {})}
    return {"status": status, "message": MESSAGES.get(status, ""), **kept}


def result_of(answer: Mapping[str, Any]) -> CallToolResult:
    """The answer as a tool's result, with a link for each finished file."""
    text = json.dumps(answer, default=to_json, ensure_ascii=False, separators=(",", ":"))
    content: list[ContentBlock] = [TextContent(type="text", text=text)]
    jobs = [answer["job"]] if "job" in answer else []
    for job in (*jobs, *answer.get("jobs", ())):
        if job.get("file"):
            link = ResourceLink(
                type="resource_link", uri=job["file"], name=job["title"], mime_type="video/mp4"
            )
            content.append(link)
    return CallToolResult(
        content=content,
        structured_content=json.loads(text),
        is_error=answer["status"] == REFUSED,
    )


def short(text: str, most: int = MAX_TEXT_CHARS) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def describe_job(job: Job) -> dict[str, Any]:
    described = {
        "job_id": job.pk,
        "kind": job.kind,
        "title": short(job.title, 80),
        "state": job.state,
        "link": f"{settings.PORTAL_URL}/videos/{job.pk}/",
        "file": job.media_url if job.state == JobState.COMPLETED else "",
        "reason": short(job.failure_message) if job.state == JobState.FAILED else "",
    }
    return {name: value for name, value in described.items() if value}


def describe_jobs(jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """Rows of a list, without their files: a signed address is long."""
    return [
        {**{name: part for name, part in describe_job(job).items() if name != "file"}}
        | {"made_at": job.created_at}
        for job in jobs
    ]


def describe_charge(charge: Charge) -> dict[str, Any]:
    return {
        "charge_id": charge.pk,
        "pays_for": get_operation(charge.operation).noun,
        "state": ChargeState(charge.state).value,
        "price": charge.quote,
        "cost": charge.cost,
        "reason": short(charge.reason),
        "refunded_at": charge.refunded_at,
    }


def describe_items(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The answer about an approval of several items; `facts` are those of `TeamRules`."""
    status = "approved" if facts["is_in_force"] else "not_approved"
    status = "approval_required" if facts["url"] else status
    shown = {name: part for name, part in facts.items() if name not in ("url", "is_in_force")}
    return build(status, approval=shown, approval_url=facts["url"])


def describe_batch(facts: Mapping[str, Any], status: str = "") -> dict[str, Any]:
    """The answer about a batch; `facts` are those of `Site`. Of its rows those that need attention
    are shown, the first ones."""
    url, price = facts["approval_url"], facts["price"]
    names = (
        "name",
        "state",
        "pause_reason",
        "counts",
        "price",
        "spent",
        "held",
        "left",
        "finish_at",
    )
    shown = {name: facts[name] for name in names if facts[name]}
    rows = [
        {"row": row["row"], "state": row["state"], "why": short(why, 150)}
        for row in facts["rows"]
        if (why := row["message"] or "; ".join(describe_problem(one) for one in row["problems"]))
    ]
    batch = {
        "batch_id": facts["batch"],
        **shown,
        "link": facts["url"],
        "rows": rows[:MAX_BATCH_ROWS],
    }
    if facts["state"] != "draft":
        return build(BATCH_STATES.get(facts["state"], "in_progress"), batch=batch)
    if not facts["counts"].get("ready"):
        return build("rows_wrong", batch=batch)
    quote = {
        "quote_id": f"batch_{UUID(facts['batch']).hex}",
        "pays_for": f"{facts['counts']['ready']} videos, those that are ready",
        "price": facts["max_credits"],
        "upper_bound": facts["max_credits"],
        "usual": price["usual"],
        "exact": False,
        "approval_required": facts["approval_required"],
        "credits_left": facts["credits_left"],
    }
    status = status or ("approval_required" if url else "quoted")
    return build(status, quote=quote, batch=batch, approval_url=url)


def describe_problem(problem: Mapping[str, Any]) -> str:
    return f"{problem['column']}: {problem['message']}" if problem["column"] else problem["message"]


def describe_quote(quote: Quote, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The quote as an agent needs it; `facts` are what `quotes.describe_quote` says."""
    names = ("price", "upper_bound", "exact", "approval_required", "credits_left", "expires_at")
    noun = get_operation(quote.operation).noun
    return {"quote_id": facts["quote"], "pays_for": noun, **{name: facts[name] for name in names}}
