"""What the page of a clip says of its model, options, references and price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.urls import reverse

from dashboard.library.queries.video_setting import VideoSetting
from dashboard.shared.clip_models import (
    OPTION_LABELS,
    REFERENCE_LABELS,
    clip_model_name,
    option_text,
    reference_origin,
)
from dashboard.shared.formatting import clock, credits
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.videos.status_text import last_paid_run
from proxyapi.models import Charge, Job

OWN_FILE_TEXT = "Own file"
ADDRESS_TEXT = "By address"


def clip_parts(job: Job) -> list[str]:
    """Return model and options, such as `Kestrel Voice`, `8 s`, `16:9`, `720p`, `with sound`."""
    chosen = job.chosen_settings
    options = [option_text(name, chosen[name]) for name in OPTION_LABELS if chosen.get(name)]
    return [*filter(None, [model_name(job)]), *options]


def model_name(job: Job) -> str:
    model = str(job.chosen_settings.get("model") or "")
    return clip_model_name(job.account, model) if model else ""


def build_clip_settings(job: Job, charges: Sequence[Charge]) -> Iterator[VideoSetting]:
    """Yield the settings; those that the model does not have have no value."""
    chosen = job.chosen_settings
    yield VideoSetting("Model", model_name(job))
    for name, label in OPTION_LABELS.items():
        text = option_text(name, chosen[name]) if chosen.get(name) else ""
        yield VideoSetting(label, f"{text[:1].upper()}{text[1:]}")
    for name, label in REFERENCE_LABELS.items():
        if isinstance(chosen.get(name), dict):
            yield reference_setting(label, chosen[name])
    yield VideoSetting("Price paid", price_paid_text(charges))


def reference_setting(label: str, reference: dict[str, Any]) -> VideoSetting:
    source = parse_uuid(str(reference.get("job") or ""))
    if source is None:
        return VideoSetting(label, OWN_FILE_TEXT if reference.get("file") else ADDRESS_TEXT)
    url = reverse("video", args=[source])
    return VideoSetting(label, reference_origin(reference), url)


def price_paid_text(charges: Sequence[Charge]) -> str:
    """Return such as `33 cr, as quoted`; "" until it is charged."""
    charge = last_paid_run(list(charges))
    if charge is None or charge.cost is None:
        return ""
    paid = f"{credits(charge.cost)} cr"
    if charge.quote is not None:
        is_quoted = charge.quote == charge.cost
        paid += ", as quoted" if is_quoted else f", quoted {credits(charge.quote)} cr"
    if charge.refunded_at is not None:
        paid += f", refunded {clock(charge.refunded_at)}"
    return paid
