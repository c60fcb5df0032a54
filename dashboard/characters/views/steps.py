"""The steps of a character: photo, genre, preview, details. Each is saved and has an address."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.vary import vary_on_headers

from dashboard.characters import actions
from dashboard.characters.forms import DetailsForm, GenreForm, PhotoForm, PreviewChoiceForm
from dashboard.characters.queries.cards import genre_names, with_character_relations
from dashboard.characters.queries.steps import (
    STEP_NAMES,
    CharacterStepSlug,
    first_open_step,
    load_new_page,
    load_steps_page,
)
from dashboard.shared.access import check_permission, fetch_character
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.member_token import require_member_token
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.roles import Permission
from proxyapi.kinds import CHANGEABLE_STATES
from proxyapi.kinds.character_genres import request_genres
from proxyapi.models import Account, CharacterGenres, Job
from proxyapi.refusals import Refusal

STEP_TEMPLATE, STUDIO_TEMPLATE = "characters/step.html", "characters/_studio.html"
NEXT_STEP = "next"
INVALID_FORM_STATUS = 422
NO_SUCH_STEP = "A character has no such step."


@allow_get_or_post
def new_character(request: TeamRequest) -> HttpResponse:
    """Show the first step; POST starts a character from a photo."""
    check_permission(request.membership, Permission.RENDER)
    form, status = PhotoForm(), 200
    if request.method == "POST":
        form, status = PhotoForm(request.POST, request.FILES), INVALID_FORM_STATUS
        if form.is_valid():
            try:
                job = actions.start_character(
                    by=request.membership,
                    photo=form.cleaned_data["file"],
                    file_name=form.file_name,
                )
            except Refusal as refused:
                form.add_error(None, refused.sentence)
            else:
                return redirect("character-step", job.pk, CharacterStepSlug.GENRE)
    page = load_new_page(request.membership, member_account(request))
    return render(request, STEP_TEMPLATE, {"page": page, "form": form}, status=status)


def member_account(request: TeamRequest) -> Account | None:
    """The account that a new character is made on; None without a token."""
    try:
        return require_member_token(request.membership).account
    except Refusal:
        return None


@allow_get_or_post
@vary_on_headers("HX-Request")
def step(request: TeamRequest, job_id: UUID, step: str) -> HttpResponse:
    """Show a step; POST saves it and goes on. htmx gets the part that changes by itself."""
    job = fetch_character(request, job_id, Permission.RENDER)
    if not has_steps(job):
        return redirect("character", job.pk)
    if step == NEXT_STEP:
        return redirect("character-step", job.pk, first_open_step(job))
    if step not in STEP_NAMES:
        raise Http404(NO_SUCH_STEP)
    slug, genres = CharacterStepSlug(step), request_genres(job.account)
    form = build_form(request, job, slug, genres)
    if request.method == "POST" and form.is_valid():
        try:
            save_step(request, job, slug, form)
        except Refusal as refused:
            form.add_error(None, refused.sentence)
        else:
            return go_on(request, job, slug)
    return render_step(request, job, slug, genres, form)


def has_steps(job: Job) -> bool:
    """Whether no training was sent, or the last one failed."""
    is_changeable = job.state in CHANGEABLE_STATES and not job.charges.starting_jobs().exists()
    return is_changeable and not job.has_changed_state()


def build_form(
    request: TeamRequest, job: Job, slug: CharacterStepSlug, genres: CharacterGenres
) -> PortalForm:
    data = request.POST if request.method == "POST" else None
    if slug == CharacterStepSlug.PHOTO:
        return PhotoForm(data, request.FILES) if data is not None else PhotoForm()
    if slug == CharacterStepSlug.GENRE:
        return GenreForm(genres.genres, data)
    if slug == CharacterStepSlug.PREVIEW:
        return PreviewChoiceForm(data)
    return DetailsForm(data, initial=dict(job.chosen_settings))


def save_step(request: TeamRequest, job: Job, slug: CharacterStepSlug, form: PortalForm) -> None:
    """Raises `Refusal`."""
    by = request.membership
    if isinstance(form, PhotoForm):
        photo = form.cleaned_data["file"]
        actions.replace_photo(by=by, job=job, photo=photo, file_name=form.file_name)
    elif isinstance(form, PreviewChoiceForm):
        actions.choose_preview(by=by, job=job, part=form.find_part(job))
    elif isinstance(form, GenreForm | DetailsForm):
        actions.save_settings(by=by, job=job, changes=form.draft_settings())
    if slug == CharacterStepSlug.GENRE and request.POST.get("go") == "preview":
        job = fetch_character(request, job.pk)
        arguments = ConfirmForm(request.POST).charge_arguments()
        actions.request_preview(by=by, job=job, **arguments)


def go_on(request: TeamRequest, job: Job, slug: CharacterStepSlug) -> HttpResponse:
    if slug == CharacterStepSlug.DETAILS:
        if request.POST.get("go") == "train":
            return redirect("character-training", job.pk)
        return redirect("character-step", job.pk, CharacterStepSlug.DETAILS)
    slugs = list(STEP_NAMES)
    return redirect("character-step", job.pk, slugs[slugs.index(slug) + 1])


def render_step(
    request: TeamRequest,
    job: Job,
    slug: CharacterStepSlug,
    genres: CharacterGenres,
    form: PortalForm,
) -> HttpResponse:
    context = step_context(request, job, slug, genres) | {"form": form}
    template = STUDIO_TEMPLATE if request.htmx else STEP_TEMPLATE
    status = INVALID_FORM_STATUS if form.is_bound and form.errors else 200
    return render(request, template, context, status=status)


def step_context(
    request: TeamRequest, job: Job, slug: CharacterStepSlug, genres: CharacterGenres
) -> dict[str, Any]:
    row = with_character_relations(Job.objects.filter(pk=job.pk)).get()
    names = genre_names(genres)
    page = load_steps_page(row, request.membership, slug, names)
    return {
        "page": page,
        "genres": genres,
        "fresh_key": uuid4(),
        "chosen_genre": str(row.chosen_settings.get("genre_id", "")),
    }
