"""Forms of the library: which videos are selected, what is done with them, and what to import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django import forms
from django.http import Http404, QueryDict

from dashboard.models.label import MAX_LABEL_NAME_CHARS
from dashboard.shared.forms import PortalForm
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.videos.labels import JOB_KIND_LABELS
from proxyapi.models import VIDEO_KINDS, Job

MAX_SELECTED_VIDEOS = 100  # two pages of the library
MAX_ID_CHARS = Job._meta.get_field("remote_id").max_length or 0
CHOICE_PREFIX = "choice-"


class LabelNameForm(PortalForm):
    """A name that is too long or taken is refused by the action."""

    name = forms.CharField(
        widget=forms.TextInput(
            attrs={"maxlength": MAX_LABEL_NAME_CHARS, "autocomplete": "off", "autofocus": True}
        )
    )


class ImportForm(PortalForm):
    """What the ID may be is decided by `proxyapi.job_import`."""

    kind = forms.ChoiceField(
        label="Kind", choices=[(kind, JOB_KIND_LABELS[kind]) for kind in VIDEO_KINDS]
    )
    upstream_id = forms.CharField(
        label="ID",
        max_length=MAX_ID_CHARS,
        help_text="The id in the service’s answer when it was created, such as 41234.",
        error_messages={"required": "Enter the ID."},
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autofocus": True}
        ),
    )


@dataclass(frozen=True, slots=True)
class LabelChoices:
    """The labels that a form adds and removes. A label that its member left as it was is in
    neither, so that a change by another member meanwhile stays."""

    add: frozenset[UUID]
    remove: frozenset[UUID]
    new_name: str


def parse_selected_ids(data: QueryDict) -> list[UUID]:
    """Return the ids of the selected videos. Raises `Http404` for what is no id."""
    ids = [parse_uuid(text) for text in dict.fromkeys(data.getlist("video"))]
    if None in ids or len(ids) > MAX_SELECTED_VIDEOS:
        raise Http404("One of these videos does not exist.")
    return [id for id in ids if id is not None]


def parse_label_choices(data: QueryDict) -> LabelChoices:
    """Read the dialog: a checked box is in `label`, and was checked before if it is in `was`; a
    label of some of the videos has `choice-<id>`, which is "all", "none" or empty."""
    checked, was = (set(parse_ids(data.getlist(name))) for name in ("label", "was"))
    some = {
        name.removeprefix(CHOICE_PREFIX): value
        for name, value in data.items()
        if name.startswith(CHOICE_PREFIX)
    }
    to_all, to_none = (
        set(parse_ids(name for name, value in some.items() if value == wanted))
        for wanted in ("all", "none")
    )
    return LabelChoices(
        frozenset((checked - was) | to_all),
        frozenset((was - checked) | to_none),
        " ".join(data.get("new", "").split()),
    )


def parse_ids(texts: Iterator[str] | list[str]) -> Iterator[UUID]:
    """Raises `Http404` for what is no id."""
    for text in texts:
        if (id := parse_uuid(text)) is None:
            raise Http404("This label does not exist.")
        yield id
