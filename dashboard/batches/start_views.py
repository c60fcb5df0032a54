"""The dialogs of the start of a batch: when it starts, and what is changed about that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpResponse

from dashboard.batches import actions, start_times
from dashboard.batches.forms import StartForm
from dashboard.batches.views import BatchDialog, StartBatch
from dashboard.shared.formatting import credits
from dashboard.shared.http import redirect_to
from dashboard.shared.price_question import PriceQuestion, StartConfirmForm
from dashboard.shared.start_times import START_TIMES_TEMPLATE

LATER_NOTICE = (
    "Nothing is held before it starts. Each video is charged when it is sent, at most {limit} cr "
    "in all. The credits and budgets count at the start."
)


class BatchStartForm(StartConfirmForm, StartForm):
    """When it starts, beside what was shown."""


class StartBatchAt(StartBatch):
    """The question before a start, which may be now, at a time, or when the credits are free."""

    form_class = BatchStartForm

    def build_question(self) -> PriceQuestion:
        question = super().build_question()
        if actions.NOTHING_READY in question.unmet:
            return question
        return replace(
            question,
            choices_template=START_TIMES_TEMPLATE,
            now_refusals=question.unmet,
            unmet=(),
            notice=LATER_NOTICE.format(limit=credits(self.limit_of(self.run))),
        )

    def charge(self, **confirmed: Any) -> str | None:
        answer, start = confirmed.pop("answer"), confirmed["start"]
        del confirmed["nonce"]
        if answer.note is not None:
            actions.request_batch_approval(by=self.by, batch=self.batch, **confirmed)
            return "The approval was requested. Nothing was started yet."
        actions.start_batch(by=self.by, batch=self.batch, **confirmed)
        return "It starts by itself. Nothing is held until then." if start else "Started."


class ScheduledStart(BatchDialog):
    """Start a scheduled batch now (`now`), or cancel its start."""

    template_name = "batches/_start_time.html"

    def fetch(self, *args: Any, **ids: Any) -> HttpResponse | None:
        super().fetch(*args, **ids)
        return None if self.batch.is_scheduled else redirect_to(self.request, self.back)

    def save(self, form: Any) -> str:
        if "now" in self.request.POST:
            start_times.start_now(by=self.by, batch=self.batch)
            return "Started."
        start_times.cancel_start(by=self.by, batch=self.batch)
        return "The start was cancelled. Nothing was sent."

    def load_dialog(self) -> Mapping[str, Any]:
        is_own = self.batch.member_id == self.by.user_id
        limit = start_times.needed_credits(self.batch)
        return {**super().load_dialog(), "is_own": is_own, "limit": limit}
