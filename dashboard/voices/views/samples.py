"""Views of the samples of a voice: add, play, remove."""

from __future__ import annotations

import re
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from dashboard.shared.access import fetch_sample, fetch_voice
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.recordings import MAX_RECORDING_BYTES, RECORDING_FORMATS
from dashboard.voices import actions
from dashboard.voices.clone_settings import MAX_SAMPLES
from dashboard.voices.forms import read_samples
from dashboard.voices.queries.voice_page import load_voice_page
from proxyapi.models import Job
from proxyapi.refusals import Refusal
from proxyapi.stored_files import read_stored_file

SAMPLES_TEMPLATE = "voices/_samples_changed.html"
BYTE_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


@require_POST
def add_samples(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Keep the usable ones of the chosen files; of the others one is named."""
    job = fetch_voice(request, job_id, Permission.RENDER)
    recordings, problem = read_samples(request.FILES.getlist("samples"))
    try:
        if recordings:
            actions.add_samples(by=request.membership, job=job, recordings=recordings)
    except Refusal as refusal:
        problem = refusal.sentence
    return render_samples(request, job, problem)


@require_POST
def remove_sample(request: TeamRequest, job_id: UUID, file_id: UUID) -> HttpResponse:
    job = fetch_voice(request, job_id, Permission.RENDER)
    file, problem = fetch_sample(request, job_id, file_id), ""
    try:
        actions.remove_sample(by=request.membership, job=job, file=file)
    except Refusal as refusal:
        problem = refusal.sentence
    return render_samples(request, job, problem)


def render_samples(request: TeamRequest, job: Job, problem: str) -> HttpResponse:
    """Render the list of samples, and what around it depends on them."""
    page = load_voice_page(fetch_voice(request, job.pk), request.membership)
    if not request.htmx or not page.is_editable:
        if problem:
            messages.error(request, problem)
        return redirect_to(request, "voice", job.pk)
    context = {
        "page": page,
        "problem": problem,
        "formats": RECORDING_FORMATS,
        "max_bytes": MAX_RECORDING_BYTES,
        "max_samples": MAX_SAMPLES,
    }
    return render(request, SAMPLES_TEMPLATE, context)


@require_safe
def play_sample(request: TeamRequest, job_id: UUID, file_id: UUID) -> HttpResponse:
    """The recording, decrypted for those who may send it. A player asks for ranges."""
    file = fetch_sample(request, job_id, file_id)
    content = read_stored_file(file)
    response = HttpResponse(content_type=file.content_type)
    wanted = BYTE_RANGE.fullmatch(request.headers.get("Range", ""))
    if wanted and int(wanted[1]) < len(content):
        start, end = int(wanted[1]), min(int(wanted[2] or len(content)), len(content) - 1)
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        content = content[start : end + 1]
    response.content = content
    response["Accept-Ranges"] = "bytes"
    response["Content-Encoding"] = "identity"  # ranges count these bytes
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response
