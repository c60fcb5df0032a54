"""Scenes: save the fields of one; add, duplicate, move and delete them."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.shared.access import fetch_scene, fetch_storyboard
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_edits import SavedFields, SceneChange
from dashboard.shared.storyboards.scene_states import load_clips, storyboard_model
from dashboard.storyboards import actions
from dashboard.storyboards.forms import SceneForm
from dashboard.storyboards.queries import (
    build_conflict_notices,
    load_editor,
    moved_text,
    unchained_text,
)
from dashboard.storyboards.views.editor import PAGE_TEMPLATE, editor_context
from proxyapi.kinds import scenes_by_id
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.refusals import Refusal

SAVED_TEMPLATE, ARRANGED_TEMPLATE = "storyboards/_saved.html", "storyboards/_arranged.html"
DELETION_TEMPLATE = "storyboards/_scene_deletion.html"
UNDO_KEY = "storyboard_undo"  # of the session: the last change that can be undone
INVALID_FORM_STATUS = 422
ALREADY_UNDONE = "This was undone already, or something else was changed after it."
STEPS = {"left": -1, "right": 1}


@allow_get_or_post
def scene(request: TeamRequest, storyboard_id: UUID, scene_id: UUID) -> HttpResponse:
    """POST saves the fields that differ from what the form was built from."""
    if request.method != "POST":
        fetch_scene(request, storyboard_id, scene_id)
        return redirect(page_of(storyboard_id, scene_id))
    document, one = fetch_scene(request, storyboard_id, scene_id, Permission.RENDER)
    form, saved, refusal = SceneForm(storyboard_model(document), request.POST), None, ""
    if not form.is_valid():
        refusal = form.first_error()
    try:
        saved = actions.save_scene_fields(
            by=request.membership, storyboard=document, scene=one, changes=form.changes()
        )
    except Refusal as refused:
        refusal = refused.sentence
    if not request.htmx and saved and not refusal and not saved.conflicts:
        return redirect(page_of(storyboard_id, scene_id))
    return render_saved(request, document, one, saved, refusal)


def render_saved(
    request: TeamRequest,
    document: Storyboard,
    one: StoryboardScene,
    saved: SavedFields | None,
    refusal: str,
) -> HttpResponse:
    """Render the tile and what depends on it; without htmx the page with what was typed.

    A field that was not saved keeps the version its form was built from.
    """
    editor = load_editor(request.membership, document, one.pk)
    if editor.panel is None:
        raise Http404("This scene does not exist any more.")
    conflicts = build_conflict_notices(document, one, saved.conflicts if saved else ())
    names = saved.saved if saved else ()
    for name in editor.panel.versions:
        if name not in names and request.POST.get(f"{name}_seen"):
            editor.panel.versions[name] = request.POST[f"{name}_seen"]
    context = editor_context(
        request,
        editor,
        field_refusal=refusal,
        conflicts=conflicts,
        tile=editor.tiles[editor.panel.number - 1] if names else None,
        with_take=request.POST.get("take_seen") != editor.panel.take.version,
        with_duration="duration" in names,
        with_slots="is_chained" in names,
    )
    if request.htmx:
        return render(request, SAVED_TEMPLATE, context)
    context["typed"] = request.POST.get("prompt", "")
    return render(request, PAGE_TEMPLATE, context, status=INVALID_FORM_STATUS)


@require_POST
def scenes(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Change the order by `action`, or insert before the scene `insert`; `?undo=` undoes it."""
    document = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    if undo_id := request.GET.get("undo"):
        return undo_change(request, document, undo_id)
    action = "before" if request.POST.get("insert") else request.POST.get("action", "")
    target = find_target(request, document)
    if action == "delete" and target and not request.POST.get("confirmed"):
        number = list(document.scenes.values_list("pk", flat=True)).index(target.pk) + 1
        if has_clip(document, target):
            return render_deletion(request, document, target, number)
    try:
        change = change_scenes(request, document, target, action)
    except Refusal as refused:
        return render_refused(request, document, refused.sentence)
    undo_url = ""
    if action == "delete" or change.unchained:
        undo_url = keep_for_undo(request, document, change)
    return render_arranged(request, document, change, action, undo_url)


def find_target(request: TeamRequest, document: Storyboard) -> StoryboardScene | None:
    """Return the scene that is moved, or inserted before; None to add at the end."""
    posted = request.POST.get("insert") or request.POST.get("moved", "")
    if request.POST.get("action") == "add" and not request.POST.get("insert"):
        return None
    id = parse_uuid(posted)
    one = document.scenes.filter(pk=id).first() if id else None
    if one is None:
        raise Http404("This scene does not exist any more.")
    return one


def change_scenes(
    request: TeamRequest, document: Storyboard, target: StoryboardScene | None, action: str
) -> SceneChange:
    by = request.membership
    if target is None or action == "before":
        return actions.add_scene(by=by, storyboard=document, before=target)
    if action == "after":
        later = document.scenes.filter(position__gt=target.position).first()
        return actions.add_scene(by=by, storyboard=document, before=later)
    if action == "duplicate":
        return actions.duplicate_scene(by=by, storyboard=document, scene=target)
    if action == "delete":
        return actions.delete_scene(by=by, storyboard=document, scene=target)
    to = request.POST.get("to", "")
    number = int(to) if action == "move" and to.isascii() and to.isdigit() else target.position
    number += STEPS.get(action, 0)
    return actions.move_scene(by=by, storyboard=document, scene=target, number=number)


def has_clip(document: Storyboard, one: StoryboardScene) -> bool:
    """Whether a clip of the scene was made; its deletion is asked for first."""
    job = document.copy
    sent = scenes_by_id(job.draft.sent_settings) if job and job.draft_or_none else {}
    return str(sent.get(str(one.pk), {}).get("remote_id", "")) in load_clips(job)


def render_deletion(
    request: TeamRequest, document: Storyboard, one: StoryboardScene, number: int
) -> HttpResponse:
    context: dict[str, Any] = {"scene_id": one.pk, "number": number}
    context["back"] = page_of(document.pk, one.pk)
    if request.htmx:
        response = render(request, DELETION_TEMPLATE, {**context, "fragment": True})
        response["HX-Retarget"], response["HX-Reswap"] = "#dialogs", "innerHTML"
        return response
    editor = load_editor(request.membership, document, one.pk)
    page = editor_context(request, editor, dialog=DELETION_TEMPLATE)
    return render(request, PAGE_TEMPLATE, page | context)


def render_arranged(
    request: TeamRequest, document: Storyboard, change: SceneChange, action: str, undo_url: str
) -> HttpResponse:
    """Render the strip and what counts scenes; without htmx go to the page."""
    is_moved = action in (*STEPS, "move")
    text = unchained_text(change)
    if is_moved:
        said = moved_text(change)
    else:
        number = change.number or change.old_number
        said = f"Scene {number} was {'deleted' if action == 'delete' else 'added'}."
    has_toast = bool(undo_url)
    picked = parse_uuid(request.POST.get("scene", "")) if is_moved else change.scene.pk
    if action == "delete":
        picked = next_scene_id(document, change, request.POST.get("scene", ""))
    if not request.htmx:
        messages.info(request, " ".join(filter(None, [said, text])), extra_tags=undo_url)
        return redirect(page_of(document.pk, picked or change.scene.pk))
    editor = load_editor(request.membership, document, picked)
    focus = "id_prompt" if action in ("add", "before", "after", "duplicate") else ""
    if not focus and editor.panel:
        shown_id = change.scene.pk if is_moved else editor.panel.scene.pk
        focus = f"scene-{shown_id}"
    context = editor_context(
        request,
        editor,
        said=f"{said} {text}".strip(),
        focus=focus,
        toast=said if has_toast else "",
        toast_text=text,
        toast_state="good",
        undo_url=undo_url,
    )
    return render(request, ARRANGED_TEMPLATE, context)


def next_scene_id(document: Storyboard, change: SceneChange, shown: str) -> UUID | None:
    """Return the scene to show after a deletion: the one that was shown, else the next one."""
    ids = list(document.scenes.values_list("pk", flat=True))
    shown_id = parse_uuid(shown)
    if shown_id in ids or not ids:
        return shown_id
    return ids[min(change.old_number, len(ids)) - 1]


def render_refused(request: TeamRequest, document: Storyboard, sentence: str) -> HttpResponse:
    picked = parse_uuid(request.POST.get("scene", ""))
    if not request.htmx:
        messages.error(request, sentence)
        return redirect(page_of(document.pk, picked))
    editor = load_editor(request.membership, document, picked)
    context = editor_context(request, editor, said=sentence, toast=sentence, toast_state="failed")
    return render(request, ARRANGED_TEMPLATE, context)


def keep_for_undo(request: TeamRequest, document: Storyboard, change: SceneChange) -> str:
    """Keep what was before in the session, instead of the change before; return the undo URL."""
    undo_id = str(uuid4())
    request.session[UNDO_KEY] = {"id": undo_id, **change.snapshot}
    return f"{reverse('storyboard-scenes', args=[document.pk])}?undo={undo_id}"


def undo_change(request: TeamRequest, document: Storyboard, undo_id: str) -> HttpResponse:
    """Undo the member's last change, once."""
    kept = request.session.get(UNDO_KEY, {})
    if kept.get("id") != undo_id or kept.get("storyboard") != str(document.pk):
        messages.info(request, ALREADY_UNDONE)
        return redirect(page_of(document.pk, None))
    del request.session[UNDO_KEY]
    try:
        actions.restore_scenes(by=request.membership, storyboard=document, snapshot=kept)
    except Refusal as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, "The change was undone.")
    restored = parse_uuid(kept.get("deleted", {}).get("id", ""))
    return redirect(page_of(document.pk, restored))


def page_of(storyboard_id: UUID, scene_id: UUID | None) -> str:
    page = reverse("storyboard", args=[storyboard_id])
    return f"{page}?scene={scene_id}" if scene_id else page
