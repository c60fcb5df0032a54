"""The portal's rows of the demo's past: what it would have stored of each video at that time."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from dashboard.demo.history.plan import PastVideo, VideoCourse
from dashboard.demo.history.replay import (
    RENDERED_COURSES,
    ReplayAnswer,
    first_settings,
    script_body,
)
from dashboard.models import ApprovalDecision, ApprovalRequest, Membership
from dashboard.studio.flows import FLOWS
from proxyapi import pricing
from proxyapi.charges.transitions import price_difference_fields
from proxyapi.kinds import KINDS, faceless_draft
from proxyapi.kinds.job_parts import parse_part_list
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    Draft,
    Job,
    JobKind,
    JobPart,
    JobState,
    PageRead,
    PageReadState,
    RenderDurations,
    ScriptOrigin,
    ScriptVersion,
    Token,
)
from proxyapi.models.account import parse_timestamp
from proxyapi.models.duration_class import duration_class_of

PAGE_SCRIPT_OPERATION = "faceless.scrape_script"
REQUEST_DURATION = timedelta(milliseconds=700)  # from the sending of a request to its answer
POLL_DELAY = timedelta(seconds=2)  # from the end of a render to the poll that saw it
REQUEST_DELAY = timedelta(minutes=1)  # from the price to the request for approval
DECISION_DELAY = timedelta(minutes=55)
REQUEST_NOTE = "It opens the new series, so it is longer than usual."
DECLINE_ANSWER = "Please make it one minute, then it fits."
APPROVAL_COURSES = frozenset({VideoCourse.WAITING, VideoCourse.DECLINED})
SETTLE_DELAY = timedelta(minutes=2)  # from a lost answer to its debit in the mirror


@dataclass
class PastRows:
    """Rows that are not saved yet."""

    account: Account
    answers: Mapping[str, ReplayAnswer]
    members: Mapping[str, Membership]  # by first name
    tokens: Mapping[str, Token]
    jobs: list[Job] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    parts: list[JobPart] = field(default_factory=list)
    pages: list[PageRead] = field(default_factory=list)
    scripts: list[ScriptVersion] = field(default_factory=list)
    approvals: list[ApprovalRequest] = field(default_factory=list)

    def add_video(self, video: PastVideo) -> Job:
        """Add the rows of a video; return its job."""
        created = self.answers[video.name]
        job = Job(
            tenant_id=self.account.tenant_id,
            account=self.account,
            token=self.tokens[video.member],
            member=self.members[video.member].user,
            kind=JobKind.FACELESS,
            remote_id=str(created.data["id"]),
            title=video.title,
            created_at=created.at,
        )
        self.jobs.append(job)
        self.drafts.append(self.build_draft(job, video))
        if video.course is VideoCourse.NOT_PRICED:
            return job
        if video.page:
            self.add_page_read(job, video)
        self.add_script_charge(job, video)
        if video.course in RENDERED_COURSES:
            self.add_render(job, video)
        elif video.course in APPROVAL_COURSES:
            self.add_request(job, video)
        return job

    def build_draft(self, job: Job, video: PastVideo) -> Draft:
        chosen = first_settings(video)
        draft = Draft(job=job, edited_at=job.created_at)
        if video.course is not VideoCourse.NOT_PRICED:
            script = self.answers[f"{video.name} script"].data["script"]
            estimate = self.answers[f"{video.name} estimate"]
            chosen |= {"script": script, **video.settings}
            draft.estimate = faceless_draft.parse_estimate_credits(estimate.data)
            draft.estimate_as_of = draft.edited_at = estimate.at
        draft.settings = draft.sent_settings = chosen
        return draft

    def add_page_read(self, job: Job, video: PastVideo) -> None:
        answer = self.answers[f"{video.name} page"]
        ended_at = answer.at + REQUEST_DURATION
        read = PageRead(job=job, url=video.page, state=PageReadState.DONE, requested_at=answer.at)
        read.ended_at = read.read_at = ended_at
        read.read_url = video.page
        read.image_ids = [str(asset["id"]) for asset in answer.data["assets"]]
        self.pages.append(read)

    def add_script_charge(self, job: Job, video: PastVideo) -> None:
        answer = self.answers[f"{video.name} script"]
        price = Decimal(answer.cost)
        operation = PAGE_SCRIPT_OPERATION if video.page else FLOWS[video.type].script_operation
        charge = self.build_charge(job, operation, answer.at, price)
        charge.body = script_body(video)
        self.settle_charge(charge, price, 200)
        version = ScriptVersion(job=job, charge=charge, member=job.member, created_at=answer.at)
        version.origin = ScriptOrigin.PAGE if video.page else ScriptOrigin.SERVICE
        version.text = answer.data["script"]
        self.scripts.append(version)

    def add_render(self, job: Job, video: PastVideo) -> None:
        estimate = self.drafts[-1].estimate or Decimal(0)
        operation, names = FLOWS[video.type].render_operation, [f"{video.name} render"]
        if video.course is VideoCourse.RETRIED:
            names.append(f"{video.name} retry")
        for name in names:
            answer = self.answers[name]
            charge = self.build_charge(job, operation, answer.at, estimate)
            operation = "faceless.retry"
            if answer.status is None:
                self.settle_lost_charge(charge, video)
            else:
                self.settle_charge(charge, Decimal(answer.cost), 202)
                estimate = charge.cost or estimate
            job.started_at = charge.applied_at
        self.finish_job(job, self.answers[f"{video.name} read"])

    def add_request(self, job: Job, video: PastVideo) -> None:
        """Request approval of the render, which is over the member's budget."""
        price = self.drafts[-1].estimate or Decimal(0)
        at = self.answers[f"{video.name} estimate"].at + REQUEST_DELAY
        charge = self.build_charge(job, FLOWS[video.type].render_operation, at, price)
        charge.held_at = charge.sent_at = charge.heartbeat_at = None
        charge.attempts, charge.created_at = 0, at
        approval = ApprovalRequest(
            team=self.members[video.member].team,
            charge=charge,
            member=job.member,
            note=REQUEST_NOTE,
            requested_at=at,
        )
        if video.course is VideoCourse.DECLINED:
            treasurer = self.members["Thea"].user
            charge.state, charge.reason = ChargeState.REFUSED, DECLINE_ANSWER
            charge.settled_at = approval.decided_at = at + DECISION_DELAY
            approval.decision, approval.decided_by = ApprovalDecision.DECLINED, treasurer
            approval.answer = DECLINE_ANSWER
        self.approvals.append(approval)

    def build_charge(self, job: Job, operation: str, sent_at: datetime, price: Decimal) -> Charge:
        pressed_at = sent_at - REQUEST_DURATION
        charge = Charge(
            tenant_id=job.tenant_id,
            account=self.account,
            token=job.token,
            member=job.member,
            job=job,
            operation=operation,
            nonce=uuid.uuid4(),
            quote=price,
            hold=pricing.hold_for_operation(operation, price),
            attempts=1,
            created_at=pressed_at,
            held_at=pressed_at,
            due_at=pressed_at,
            sent_at=sent_at,
            heartbeat_at=sent_at,
        )
        self.charges.append(charge)
        return charge

    def settle_charge(self, charge: Charge, cost: Decimal, status: int) -> None:
        assert charge.sent_at is not None  # noqa: S101 - set by `build_charge`
        charge.state, charge.cost, charge.status = ChargeState.CONFIRMED, cost, status
        charge.applied_at = charge.settled_at = charge.sent_at + REQUEST_DURATION
        for name, value in price_difference_fields(charge, cost).items():
            setattr(charge, name, value)

    def settle_lost_charge(self, charge: Charge, video: PastVideo) -> None:
        """Settle a charge whose answer was lost at the debit that the ledger shows."""
        assert charge.sent_at is not None  # noqa: S101
        resource = f"faceless:{charge.job.remote_id if charge.job else ''}"
        money = self.answers["money"].body["charges"][resource]
        cost = next(row["credits"] for row in money if row["feature"] == "faceless_render")
        self.settle_charge(charge, Decimal(cost), 200)
        charge.state, charge.status = ChargeState.MATCHED, None
        charge.lost_at = charge.sent_at + REQUEST_DURATION
        charge.settled_at = charge.sent_at + SETTLE_DELAY

    def finish_job(self, job: Job, read: ReplayAnswer) -> None:
        """Store what the last poll read."""
        reading, record = KINDS[job.kind].read_status(read.data), read.data
        ended_at = (parse_timestamp(record["updated_at"]) or read.at) + POLL_DELAY
        job.state, job.raw_status = reading.state or JobState.RUNNING, reading.raw_status
        job.subtype, job.length = duration_class_of(self.drafts[-1].settings)
        job.polled_at = job.finished_at = ended_at
        job.failure_code, job.failure_message = reading.failure_code, reading.failure_message
        job.media_url, job.poster_url = reading.media_url, reading.poster_url
        job.media_as_of = ended_at if reading.media_url else None
        for list_name in KINDS[job.kind].part_lists:
            for id_, fields in (parse_part_list(record, list_name) or {}).items():
                self.parts.append(
                    JobPart(job=job, list_name=list_name, remote_id=id_, read_at=read.at, **fields)
                )

    def save(self) -> None:
        Job.objects.bulk_create(self.jobs)
        Draft.objects.bulk_create(self.drafts)
        Charge.objects.bulk_create(self.charges)
        JobPart.objects.bulk_create(self.parts)
        PageRead.objects.bulk_create(self.pages)
        ScriptVersion.objects.bulk_create(self.scripts)
        ApprovalRequest.objects.bulk_create(self.approvals)
        RenderDurations.objects.bulk_create(collect_durations(self.account, self.jobs))


def collect_durations(account: Account, jobs: Iterable[Job]) -> list[RenderDurations]:
    """The durations of the completed renders by kind, type and length, oldest first."""
    seconds: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for job in jobs:
        if job.state == JobState.COMPLETED and job.started_at and job.finished_at:
            duration = (job.finished_at - job.started_at).total_seconds()
            seconds[job.kind, job.subtype, job.length].append(round(duration, 1))
    return [
        RenderDurations(
            tenant_id=account.tenant_id,
            environment=account.environment,
            kind=kind,
            subtype=subtype,
            length=length,
            seconds=durations,
        )
        for (kind, subtype, length), durations in seconds.items()
    ]
