"""The pages of batches: the list, a new one, its dry run or progress, and the dialogs on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from dashboard.batches import actions, row_changes
from dashboard.batches.dry_run import DryRun, load_dry_run
from dashboard.batches.forms import BatchForm, NewBatchForm, ResumeForm, RowForm, StartForm
from dashboard.batches.pages import load_batch, load_batches, result_rows, span_text
from dashboard.batches.row_checks import FIELD_LABELS, table_of_ideas
from dashboard.batches.runner import find_runner
from dashboard.models import BatchRow, BatchRowState, Membership, RowChoice
from dashboard.shared.access import check_permission, fetch_batch, fetch_ideas
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.dialogs import ChargeDialog, DialogView
from dashboard.shared.file_export import render_csv
from dashboard.shared.formatting import credits
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import WITHOUT_SECOND_PERSON
from dashboard.shared.team_balance import credit_shortfall_text
from proxyapi.models.account import amount_text
from proxyapi.refusals import Refusal, StaleData

PAGE_TEMPLATE, BODY_TEMPLATE = "batches/batch.html", "batches/_body.html"
INVALID_FORM_STATUS = 422
NOTHING_SELECTED = "Select an idea first."
HOLD_LABEL = "At most, for all"
START_NOTICE = (
    "Nothing is held now. Each video is charged when it is sent, at most {limit} cr in all. The "
    "rest waits if a limit is reached, and you are told."
)
RETRY_NOTICE = "The limit of the batch rises by {limit} cr. Rows that wait go on, too."
TEMPLATE_ROWS = (
    ("title", "topic", "script", "link", "voice", "genre", "length", "format", "label"),
    (
        "Why lakes freeze from the top",
        "Why ice floats and fish survive",
        "",
        "",
        "",
        "",
        "60",
        "",
        "",
    ),
)


@require_safe
def batches(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.VIEW)
    context = load_batches(request.membership, request.GET.get("page", "1"))
    return render(request, "batches/page.html", context)


@allow_get_or_post
def new_batch(request: TeamRequest) -> HttpResponse:
    """Upload a file or paste rows; they are stored, and nothing is sent."""
    check_permission(request.membership, Permission.RENDER)
    is_sent = request.method == "POST"
    form = NewBatchForm(request.team, *([request.POST, request.FILES] if is_sent else []))
    if is_sent and form.is_valid():
        made = actions.create_batch(
            by=request.membership,
            name=form.batch_name,
            file_name=form.file_name,
            table=form.table,
            preset=form.cleaned_data["preset"],
        )
        for note in form.notes:
            messages.info(request, note)
        return redirect("batch", made.pk)
    context = {"form": form, "field_labels": FIELD_LABELS.values()}
    status = INVALID_FORM_STATUS if is_sent else 200
    return render(request, "batches/new.html", context, status=status)


@require_POST
def batch_of_ideas(request: TeamRequest) -> HttpResponse:
    """A batch of the ideas that are selected on their page, a row each; nothing is sent."""
    ideas = fetch_ideas(request)
    if not ideas:
        messages.error(request, NOTHING_SELECTED)
        return redirect("ideas")
    name, table = f"Ideas: {ideas[0].title}", table_of_ideas(ideas)
    made = actions.create_batch(by=request.membership, name=name, table=table, ideas=ideas)
    return redirect("batch", made.pk)


@require_safe
def template_file(request: TeamRequest) -> HttpResponse:
    """A file with the columns that are known, to fill in."""
    check_permission(request.membership, Permission.VIEW)
    return csv_response(TEMPLATE_ROWS, "batch-template.csv")


@allow_get_or_post
def batch(request: TeamRequest, batch_id: UUID) -> HttpResponse:
    """The dry run or the progress; htmx gets its body. POST saves the settings of a batch that has
    not started."""
    is_sent = request.method == "POST"
    row = fetch_batch(request, batch_id, Permission.RENDER if is_sent else Permission.VIEW)
    form = BatchForm(row, request.POST) if is_sent else None
    if form and form.is_valid():
        try:
            actions.change_batch(by=request.membership, batch=row, **form.changes())
            return redirect("batch", row.pk)
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
    context = load_batch(request.membership, row, request.GET.dict())
    if form:
        context["settings_form"] = form
    if request.htmx and request.htmx.target != "main":
        return render(request, BODY_TEMPLATE, {**context, "oob": True})
    status = INVALID_FORM_STATUS if form and not request.htmx else 200
    return render(request, PAGE_TEMPLATE, context, status=status)


@require_POST
def pause(request: TeamRequest, batch_id: UUID) -> HttpResponse:
    row = fetch_batch(request, batch_id, Permission.RENDER)
    try:
        actions.pause_by_person(by=request.membership, batch=row)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect_to(request, "batch", row.pk)
    return redirect("batch", row.pk)


@require_safe
def results_file(request: TeamRequest, batch_id: UUID) -> HttpResponse:
    """The rows of the file with what became of them; at any time."""
    row = fetch_batch(request, batch_id)
    return csv_response(result_rows(row), f"{slugify(row.name) or 'batch'}-results.csv")


def csv_response(rows: Sequence[Sequence[str]], name: str) -> HttpResponse:
    response = HttpResponse(f"\ufeff{render_csv(rows)}", content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class BatchDialog(DialogView):
    page_template = PAGE_TEMPLATE
    permission = Permission.RENDER

    def fetch(self, batch_id: UUID) -> HttpResponse | None:
        self.batch = fetch_batch(self.request, batch_id, self.permission)
        self.back = reverse("batch", args=[batch_id])
        return None

    def load_dialog(self) -> Mapping[str, Any]:
        return {"batch": self.batch}

    def load_page(self) -> Mapping[str, Any]:
        return load_batch(self.by, self.batch, {})


class RepairRow(BatchDialog):
    """The cells of a row. A button on the page sends a single cell, or whether it is made."""

    template_name = "batches/_row_dialog.html"
    form_class = RowForm

    def fetch(self, batch_id: UUID, number: int = 0) -> HttpResponse | None:
        super().fetch(batch_id)
        row = self.batch.rows.filter(number=number).first()
        if row is None:
            raise Http404("This batch has no such row.")
        self.row: BatchRow = row
        if not self.batch.is_draft:
            actions.require_own(self.by, self.batch)
            if row.state not in row_changes.CHANGEABLE:
                messages.error(self.request, row_changes.ROW_BEGUN.format(number=number))
                return redirect_to(self.request, self.back)
        return None

    def build_form(self, data: Mapping[str, Any] | None = None) -> RowForm:
        return RowForm(self.batch, self.row, data)

    def save(self, form: RowForm) -> str:
        row: dict[str, Any] = {"by": self.by, "batch": self.batch, "number": self.row.number}
        changes = form.changes()
        choice = changes.pop("choice")
        if self.batch.is_draft:
            choice = None if choice is None else RowChoice(choice)
            actions.change_row(**row, **changes, choice=choice)
            return ""
        try:
            row_changes.change_started_row(**row, **changes, confirmed=form.cleaned_data["limit"])
        except row_changes.LimitRises as rise:
            form.data = dict(form.data.items()) | {"limit": amount_text(rise.limit)}
            raise
        return ""

    def answer_saved(self) -> HttpResponse:
        # A page that is loaded anew would close a dialog that was opened meanwhile.
        return redirect(f"{self.back}?{self.request.GET.urlencode()}")

    def show(self, form: Any) -> HttpResponse:
        if self.request.htmx and form.is_bound:
            messages.error(self.request, form.first_error())
            return redirect_to(self.request, self.back)
        return super().show(form)

    def load_dialog(self) -> Mapping[str, Any]:
        return {**super().load_dialog(), "row": self.row}


class BatchCharge(ChargeDialog, BatchDialog):
    """A question about many rows: the usual price of all, and what they may cost at most."""

    template_name = ChargeDialog.template_name
    form_class = StartForm
    url_name: str
    notice: str
    may_request_approval = False  # whether a second person can be asked

    def fetch(self, batch_id: UUID) -> HttpResponse | None:
        super().fetch(batch_id)
        try:
            self.payer = self.find_payer()
            self.run = load_dry_run(self.payer, self.batch, self.load_rows())
        except Refusal as refusal:
            messages.error(self.request, refusal.sentence)
            return redirect_to(self.request, self.back)
        return None

    def find_payer(self) -> Membership:
        actions.require_own(self.by, self.batch)
        return self.by

    def load_rows(self) -> list[BatchRow]:
        raise NotImplementedError

    def verb(self, count: int) -> str:
        raise NotImplementedError

    def build_question(self) -> PriceQuestion:
        run = self.run
        total, limit = run.total, self.limit_of(run)
        account = run.token.account
        held, _ = account.held_by_all_and_others()
        check = account.check_credits(limit, account.balance - held)
        budget = build_budget_impact(self.payer, limit, limit)
        refusal = budget.refusal if budget else ""
        unmet = [text for text in (credit_shortfall_text(check), refusal) if text]
        if (
            refusal
            and budget
            and budget.label == WITHOUT_SECOND_PERSON
            and self.may_request_approval
        ):
            unmet.remove(refusal)
        if not run.ready:
            unmet.append(actions.NOTHING_READY)
        return PriceQuestion(
            label=self.verb(len(run.ready)),
            heading=f"{self.verb(len(run.ready))}, up to {credits(limit)} cr?",
            title=self.batch.name,
            summary=self.batch.name,
            price=total.usual,
            price_note=f"{span_text(total.low, total.high)} cr, as videos like these cost you",
            credit_check=check,
            hold_label=HOLD_LABEL,
            budget=None if refusal in unmet else budget,
            unmet=tuple(unmet),
            notice=self.notice.format(limit=credits(limit)),
            url=reverse(self.url_name, args=[self.batch.pk]),
            cancel_url=self.back,
            hidden_fields={"version": actions.dry_run_version(run)},
        )

    def limit_of(self, run: DryRun) -> Any:
        return run.total.limit


def count_videos(count: int) -> str:
    return "1 video" if count == 1 else f"{count} videos"


class StartBatch(BatchCharge):
    url_name, notice = "batch-starts", START_NOTICE
    may_request_approval = True

    def fetch(self, batch_id: UUID) -> HttpResponse | None:
        refused = super().fetch(batch_id)
        return refused if self.batch.is_draft else redirect_to(self.request, self.back)

    def load_rows(self) -> list[BatchRow]:
        return list(self.batch.rows.all())

    def verb(self, count: int) -> str:
        return f"Start {count_videos(count)}"

    def limit_of(self, run: DryRun) -> Any:
        return actions.max_credits_of(self.batch, run)

    def charge(self, **confirmed: Any) -> str | None:
        answer = confirmed.pop("answer")
        del confirmed["nonce"]
        if answer.note is not None:
            actions.request_batch_approval(by=self.by, batch=self.batch, **confirmed)
            return "The approval was requested. Nothing was started yet."
        actions.start_batch(by=self.by, batch=self.batch, **confirmed)
        return "Started."


class ApproveBatch(StartBatch):
    """A second person starts the batch of a member who asked."""

    url_name, notice = "batch-approvals", START_NOTICE
    permission = Permission.MANAGE_MONEY

    def find_payer(self) -> Membership:
        if self.batch.member_id == self.by.user_id:
            raise PermissionDenied(actions.OWN_APPROVAL)
        if self.batch.approval_requested_at is None:
            raise StaleData(actions.NOT_REQUESTED)
        return find_runner(self.batch)

    def build_question(self) -> PriceQuestion:
        return replace(super().build_question(), budget=None)

    def charge(self, **confirmed: Any) -> str | None:
        seen, version = confirmed["seen"], confirmed["version"]
        actions.approve_batch(by=self.by, batch=self.batch, seen=seen, version=version)
        return "Approved and started."


class RetryFailed(BatchCharge):
    url_name, notice = "batch-retries", RETRY_NOTICE

    def load_rows(self) -> list[BatchRow]:
        return actions.load_failed_rows(self.batch)

    def verb(self, count: int) -> str:
        return f"Retry {count_videos(count)}"

    def charge(self, **confirmed: Any) -> str | None:
        seen, version = confirmed["seen"], confirmed["version"]
        count = actions.retry_failed_rows(by=self.by, batch=self.batch, seen=seen, version=version)
        return f"{count_videos(count)} will be sent again."


class ResumeBatch(BatchDialog):
    template_name = "batches/_resume.html"
    form_class = ResumeForm

    def fetch(self, batch_id: UUID) -> HttpResponse | None:
        super().fetch(batch_id)
        actions.require_own(self.by, self.batch)
        return None

    def build_form(self, data: Mapping[str, Any] | None = None) -> ResumeForm:
        initial = {name: getattr(self.batch, name) for name in ResumeForm.base_fields}
        return ResumeForm(data, initial=initial)

    def save(self, form: ResumeForm) -> str:
        actions.resume_batch(by=self.by, batch=self.batch, **form.cleaned_data)
        return "Resumed."


class CancelRest(BatchDialog):
    template_name = "batches/_cancel.html"

    def save(self, form: Any) -> str:
        count = actions.cancel_waiting_rows(by=self.by, batch=self.batch)
        return f"Cancelled {count_videos(count)}. Nothing was charged for what was not sent."

    def load_dialog(self) -> Mapping[str, Any]:
        waiting = self.batch.rows.filter(state=BatchRowState.WAITING).count()
        return {**super().load_dialog(), "waiting": waiting}


class RemoveBatch(BatchDialog):
    """Delete a batch that has not started."""

    template_name = "batches/_removal.html"

    def save(self, form: Any) -> str:
        actions.remove_batch(by=self.by, batch=self.batch)
        self.back = "batches"
        return "Deleted. Nothing of it was sent."
