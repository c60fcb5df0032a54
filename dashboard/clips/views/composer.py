"""The page of clips, and the saving of what is composed: by htmx while it is changed, or as a plain
form."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.clips import actions
from dashboard.clips.forms import ClipForm
from dashboard.clips.queries import (
    ClipFilters,
    Composer,
    build_clip_price,
    build_composer,
    load_last_clip,
)
from dashboard.clips.queries.frames import build_frame_to_take, no_slot_text
from dashboard.clips.readiness import is_composable
from dashboard.clips.views.recent import is_recent_request, recent_context, render_recent
from dashboard.shared.access import (
    check_permission,
    fetch_clip,
    fetch_film,
    find_clip_draft,
    has_permission,
)
from dashboard.shared.clip_models import FRAME_NAMES, account_clip_models
from dashboard.shared.http import TeamRequest
from dashboard.shared.member_token import load_own_token
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.media_files import MAX_MEDIA_FILE_BYTES
from dashboard.shared.videos.frame_sources import film_reference, frame_origin
from proxyapi.models import Job
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, SAVED_TEMPLATE = "clips/page.html", "clips/_saved.html"
INVALID_FORM_STATUS = 422
NEW = "new"  # ?draft=new: not the draft that was edited last


@require_safe
@vary_on_headers("HX-Request", "HX-Target")
def clips(request: TeamRequest) -> HttpResponse:
    """Render the page, or a part that htmx fetches: `?part=recent` the newest clips with their
    filters, `?part=cards` the clips alone.

    A page with a composer fetches the clips itself, unless they are filtered.
    """
    filters, part = ClipFilters.parse(request.GET.dict()), request.GET.get("part", "")
    if is_recent_request(request, part):
        return render_recent(request, filters, with_chips=part != "cards")
    context: dict[str, Any] = {"filters": filters}
    is_maker = has_permission(request.membership, Permission.RENDER)
    if not is_maker or filters.is_narrowed or filters.shown or part:
        context |= recent_context(request, filters)
    if is_maker:
        composer = load_requested_composer(request)
        context |= page_context(request, composer, filters=filters)
        context |= frame_context(request, composer)
    return render(request, PAGE_TEMPLATE, context)


def load_requested_composer(request: TeamRequest) -> Composer:
    """Return the composer of `?draft=`, of a new clip like `?from=`, or of the reader's last
    draft."""
    if source_id := parse_uuid(request.GET.get("from", "")):
        source = fetch_clip(request, source_id)
        return build_composer(request.membership, uuid4(), None, source, keep_prompt=True)
    wanted = request.GET.get("draft", "")
    if draft_id := parse_uuid(wanted):
        job = fetch_clip(request, draft_id)
        if is_composable(job):
            return build_composer(request.membership, job.pk, job)
    last = load_last_clip(request.membership)
    if last is not None and not wanted and is_composable(last):
        return build_composer(request.membership, last.pk, last)
    return build_composer(request.membership, uuid4(), None, last)


def frame_context(request: TeamRequest, composer: Composer) -> dict[str, Any]:
    """Return what the page takes of the finished video `?frame=`, or why it takes nothing."""
    film_id = parse_uuid(request.GET.get("frame", ""))
    if film_id is None or composer.model is None:
        return {}
    film = fetch_film(request, film_id)
    if frame := build_frame_to_take(composer.slots, film):
        return {"frame_to_take": frame}
    return {"refusal": no_slot_text(composer.slots, composer.model.name, film)}


@require_POST
def save_draft(request: TeamRequest) -> HttpResponse:
    """Save what was posted; with htmx render the parts that depend on it."""
    check_permission(request.membership, Permission.RENDER)
    draft_id = parse_uuid(request.POST.get("draft", ""))
    if draft_id is None:
        raise Http404("This form has no draft.")
    job = find_clip_draft(request, draft_id)
    token = job.token if job else load_own_token(request.membership)
    models = account_clip_models(token.account) if token else ()
    form = ClipForm(models, request.POST, request.FILES)
    refusal = "" if form.is_valid() else form.first_error()
    if not refusal:
        try:
            job = save_composed(request, draft_id, job, form)
        except Refusal as refused:
            refusal = refused.sentence
    if not refusal and not request.htmx:
        return redirect(f"{reverse('clips')}?draft={draft_id}")
    return render_saved(request, draft_id, job, form, refusal)


def save_composed(request: TeamRequest, draft_id: UUID, job: Job | None, form: ClipForm) -> Job:
    source_id = parse_uuid(request.POST.get("source", ""))
    films = posted_films(request, form, "use")
    taken = {name: film_reference(film) for name, film in films.items()}
    origins = {
        name: frame_origin(film, which)
        for name, film in posted_films(request, form, "from").items()
        if (which := request.POST.get(f"frame-{name}", "")) in FRAME_NAMES
    }
    composed = actions.ComposedClip(
        job_id=draft_id,
        settings=form.clip_settings(),
        references={**taken, **form.changed_files()},
        slot_names=frozenset(slot.name for slot in form.slots),
        edited_at=form.cleaned_data["edited_at"],
        source=fetch_clip(request, source_id) if job is None and source_id else None,
        origins=origins,
    )
    return actions.save_clip_draft(by=request.membership, job=job, composed=composed)


def posted_films(request: TeamRequest, form: ClipForm, prefix: str) -> dict[str, Job]:
    """Return the finished videos of the fields `<prefix>-<slot>`."""
    return {
        slot.name: fetch_film(request, film_id)
        for slot in form.slots
        if (film_id := parse_uuid(request.POST.get(f"{prefix}-{slot.name}", "")))
    }


def render_saved(
    request: TeamRequest, draft_id: UUID, job: Job | None, form: ClipForm, refusal: str
) -> HttpResponse:
    """Render the changed parts, or without htmx the page with what was typed and the refusal."""
    job = fetch_clip(request, job.pk) if job else None
    errors = form.file_errors()
    composer = build_composer(
        request.membership, draft_id, job, fitted=form.fitted, file_errors=errors
    )
    context = page_context(request, composer, refusal=refusal)
    if not request.htmx:
        context |= {"typed": request.POST.get("prompt", "")}
        return render(request, PAGE_TEMPLATE, context, status=INVALID_FORM_STATUS)
    # The menus are drawn anew only where they are others: a swap would interrupt who uses them.
    is_other = composer.menus_version != request.POST.get("menus", "")
    context["has_new_menus"] = bool(errors) or (not refusal and is_other)
    return render(request, SAVED_TEMPLATE, context)


def page_context(request: TeamRequest, composer: Composer, **values: Any) -> dict[str, Any]:
    price = build_clip_price(composer, request.membership)
    shared = {"composer": composer, "price": price, "max_bytes": MAX_MEDIA_FILE_BYTES}
    return {"filters": ClipFilters(), **shared, **values}
