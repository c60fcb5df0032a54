"""Views of a storyboard's settings, and of durations that are set together."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.shared.access import fetch_storyboard
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import load_scene_rows
from dashboard.storyboards.actions import durations as duration_actions
from dashboard.storyboards.actions import settings as setting_actions
from dashboard.storyboards.actions.durations import DurationChange
from dashboard.storyboards.actions.settings import AppliedSettings
from dashboard.storyboards.forms.settings import SettingsForm
from dashboard.storyboards.queries.engine_change import build_engine_change
from dashboard.storyboards.queries.film_bar import build_film_bar
from dashboard.storyboards.readiness.setting_change import build_setting_change
from dashboard.storyboards.views.answers import render_dialog, return_to_editor
from proxyapi.models import Storyboard
from proxyapi.refusals import Refusal

DIALOG_TEMPLATE, TOTALS_TEMPLATE = "storyboards/_engine_change.html", "storyboards/_totals.html"
UNDO_SALT = "storyboard-undo"
CHANGED_TEXT = "The settings are changed."
ENGINE_TEXT = "The engine is {engine} now."
DURATIONS_TEXT = "{count} set."
UNDONE_TEXT = "The change is undone."
NOTHING_PICKED = "Nothing was picked, so nothing was changed."


@require_POST
def settings(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Apply what was picked; what breaks something opens the dialog first. `?undo=` undoes a
    change, `part=totals` only says what the dialog's choices come to."""
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    if "undo" in request.GET:
        return undo_settings(request, storyboard)
    try:
        if "title" in request.POST:
            title = request.POST["title"]
            setting_actions.set_title(by=request.membership, storyboard=storyboard, title=title)
            return return_to_editor(request, storyboard)
        return change_settings(request, storyboard)
    except Refusal as refused:
        messages.error(request, refused.sentence)
        return return_to_editor(request, storyboard)


def change_settings(request: TeamRequest, storyboard: Storyboard) -> HttpResponse:
    """Raises `Refusal` if the engine or a value is not offered."""
    form = SettingsForm(request.POST)
    if not form.is_valid():
        raise Refusal(form.first_error())
    if not form.wanted:
        raise Refusal(NOTHING_PICKED)
    if request.POST.get("part") == "totals":
        return render_change(request, storyboard, form, TOTALS_TEMPLATE)
    refusal = ""
    try:
        applied = setting_actions.apply_settings(
            by=request.membership,
            storyboard=storyboard,
            wanted=form.wanted,
            durations=form.durations,
            version=form.version_or_none,
            sets_durations=form.sets_durations,
        )
    except Refusal as refused:
        if form.version_or_none is None:
            raise
        refusal = refused.sentence
    else:
        if applied is not None:
            add_undo_message(request, storyboard, applied)
            return return_to_editor(request, storyboard)
    return render_change(request, storyboard, form, DIALOG_TEMPLATE, refusal)


def render_change(
    request: TeamRequest,
    storyboard: Storyboard,
    form: SettingsForm,
    template: str,
    refusal: str = "",
) -> HttpResponse:
    storyboard = fetch_storyboard(request, storyboard.pk)
    rows = load_scene_rows(storyboard)
    change = build_setting_change(storyboard, rows, form.wanted, form.durations)
    is_first = form.version_or_none is None
    page = build_engine_change(
        change, sets_durations=is_first or form.sets_durations, refusal=refusal
    )
    context: dict[str, Any] = {"page": page, "storyboard": storyboard}
    if template == TOTALS_TEMPLATE:
        return render(request, template, context)
    if is_first:  # the chip shows the present value until the change is applied
        context["bar"] = build_film_bar(storyboard, rows, request.membership)
    response = render_dialog(request, storyboard, template, context)
    if is_first:
        response["HX-Retarget"], response["HX-Reswap"] = "#dialogs", "innerHTML"
    return response


def add_undo_message(
    request: TeamRequest, storyboard: Storyboard, applied: AppliedSettings
) -> None:
    undo = {
        "before": dict(applied.before),
        "after": dict(applied.after),
        "durations": pack_durations(applied.durations),
    }
    text = CHANGED_TEXT
    if "engine" in applied.after:
        text = ENGINE_TEXT.format(engine=applied.change.new.name)
    messages.info(request, text, extra_tags=undo_url("storyboard-settings", storyboard, undo))


def undo_settings(request: TeamRequest, storyboard: Storyboard) -> HttpResponse:
    undo = read_undo(request, storyboard)
    try:
        setting_actions.undo_settings(
            by=request.membership,
            storyboard=storyboard,
            before=undo["before"],
            after=undo["after"],
            durations=unpack_durations(undo["durations"]),
        )
    except Refusal as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, UNDONE_TEXT)
    return return_to_editor(request, storyboard)


@require_POST
def durations(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Set every duration that the engine does not make to the nearest; `?undo=` undoes that."""
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    try:
        if "undo" in request.GET:
            changes = unpack_durations(read_undo(request, storyboard)["durations"])
            duration_actions.restore_durations(
                by=request.membership, storyboard=storyboard, changes=changes
            )
            messages.success(request, UNDONE_TEXT)
        else:
            done = duration_actions.set_nearest_durations(
                by=request.membership, storyboard=storyboard
            )
            count = "1 duration" if len(done) == 1 else f"{len(done)} durations"
            undo = undo_url("storyboard-durations", storyboard, {"durations": pack_durations(done)})
            messages.info(request, DURATIONS_TEXT.format(count=count), extra_tags=undo)
    except Refusal as refused:
        messages.error(request, refused.sentence)
    return return_to_editor(request, storyboard)


def undo_url(name: str, storyboard: Storyboard, undo: dict[str, Any]) -> str:
    """Return the address that undoes a change; signed, so that it undoes only what was done."""
    value = signing.dumps({"id": str(storyboard.pk), **undo}, salt=UNDO_SALT, compress=True)
    return f"{reverse(name, args=[storyboard.pk])}?undo={value}"


def read_undo(request: TeamRequest, storyboard: Storyboard) -> dict[str, Any]:
    try:
        undo: dict[str, Any] = signing.loads(request.GET["undo"], salt=UNDO_SALT)
    except signing.BadSignature:
        raise Http404("This change cannot be undone any more.") from None
    if undo["id"] != str(storyboard.pk):
        raise Http404("This is no change of this storyboard.")
    return undo


def pack_durations(changes: Any) -> list[list[Any]]:
    return [[str(change.scene_id), change.old, change.new] for change in changes]


def unpack_durations(rows: list[list[Any]]) -> list[DurationChange]:
    return [DurationChange(UUID(id), old, new) for id, old, new in rows]
