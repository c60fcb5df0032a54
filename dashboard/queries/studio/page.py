"""A page of the wizard: everything that stands around the form of one step."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from dashboard.access import can
from dashboard.models import Membership
from dashboard.queries.studio.notices import Notice, notices_of
from dashboard.queries.studio.options import Options, options_in
from dashboard.queries.studio.price import Price, RenderAct, act_of, price_of, token_need
from dashboard.queries.studio.script import (
    Length,
    ScriptPrice,
    Writing,
    asked_with,
    length_of,
    script_price,
    writing_of,
)
from dashboard.queries.studio.steps import Fact, Slug, Spine, facts_of, spine_of
from dashboard.roles import Permission
from proxyapi.models import AccountPlan, Job


@dataclass(frozen=True, slots=True)
class Page:
    job_id: UUID
    title: str
    edited_at: datetime
    may_edit: bool
    options: Options
    paid: bool  # the service tells its options to paid plans only
    spine: Spine
    price: Price
    act: RenderAct
    notices: tuple[Notice, ...]
    facts: tuple[Fact, ...]
    script: str
    length: Length
    writing: Writing
    asked_with: dict[str, Any]
    script_price: ScriptPrice
    write_why: str  # no script can be asked for
    nonce: UUID

    @property
    def step(self) -> str:
        return self.spine.current.slug

    @property
    def reads(self) -> bool:
        """Whether the step only tells what was chosen: the review, and all of them for a viewer."""
        return self.step == Slug.REVIEW or not self.may_edit

    @property
    def saves(self) -> bool:
        """Whether the step has a form here and now, so that going on saves it."""
        if self.step == Slug.SCRIPT:
            return self.may_edit and not self.writing.blocks
        return not self.reads and bool(self.options)


def page_of(job: Job, reader: Membership, step: Slug) -> Page:
    """Three queries besides the job with its account and token: charges, holds, earlier prices."""
    options = options_in(job.account.options)
    price = price_of(job)
    may_edit, need = can(reader, Permission.RENDER), token_need(job)
    return Page(
        job_id=job.pk,
        title=job.title,
        edited_at=job.edited_at,
        may_edit=may_edit,
        options=options,
        paid=job.account.plan == AccountPlan.PAID,
        spine=spine_of(job, options, step),
        price=price,
        act=act_of(price, reader),
        notices=notices_of(job, reader),
        facts=facts_of(job, options, step),
        script=str(job.wanted.get("script") or ""),
        length=length_of(job.wanted.get("script")),
        writing=writing_of(job),
        asked_with=asked_with(job),
        script_price=script_price(job.account),
        write_why=f"It opens when {need.label[:1].lower()}{need.label[1:]}." if need else "",
        nonce=uuid.uuid4(),
    )
