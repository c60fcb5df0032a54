"""Check the rows of a batch with the fields and preconditions of the studio, and name the cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from dashboard.batches.table_file import Table, cell_name
from dashboard.models import Batch, BatchRow, BrandKit, Membership, RowChoice
from dashboard.models.label import MAX_LABEL_NAME_CHARS
from dashboard.shared.forms import CHOOSE_FROM_LIST, required_message
from dashboard.shared.video_options import OPTION_FIELDS, FacelessOptions, account_options
from dashboard.studio.flows import FLOWS, FROM_WEB_PAGE, Flow, OptionSetting
from dashboard.studio.forms import WriteScriptForm
from dashboard.studio.forms.fields import OptionField, ScriptField, TitleField, TopicField
from dashboard.studio.forms.page_address import PageAddressField
from dashboard.studio.kept_settings.capture import draft_origin
from dashboard.studio.kept_settings.groups import SCRIPT_REQUEST_FIELDS, setting_label
from dashboard.studio.kept_settings.new_drafts import build_draft_start, starting_type
from dashboard.studio.queries import load_default_settings, requires_script_words
from dashboard.studio.queries.defaults import DEFAULT_SCRIPT_DURATION_S
from dashboard.studio.queries.script import script_length
from dashboard.studio.queries.start_text import (
    MAX_TOPIC_CHARACTERS,
    read_start_text,
    shorten_title,
)
from proxyapi.models import Account, Idea, Job, JobKind, Token

TEXT_FIELDS = ("title", "topic", "script", "link", "type", *SCRIPT_REQUEST_FIELDS, "label")
FIELD_LABELS = {
    **{name: name.capitalize() for name in TEXT_FIELDS},
    "duration": "Length",
    **{name: setting_label(name) for name in OPTION_FIELDS},
}
HEADER_WORDS = {
    "name": "title",
    "text": "script",
    "url": "link",
    "seconds": "duration",
    "ratio": "aspect_ratio",
}
DUPLICATE_MAX_AGE = timedelta(days=90)
MAX_LISTED_CHOICES = 12
FORMULA_RE = re.compile(r"^[=@+-][A-Za-z.]+\(|^=")
SECONDS_RE = re.compile(r"^(\d+)\s*(s|sec|seconds)$", re.IGNORECASE)
FORMULA = "This is a formula. Enter its value."
NO_TEXT = "A topic, a script or a link is required."
BOTH_TEXTS = "Enter a topic or a script, not both."
NOT_A_CHOICE = "“{text}” is no {noun} that this account offers."
NOT_OF_TYPE = "{type} has no {noun}. Empty the cell."
NO_LINK = "A video from a web page needs its link."
TOO_MANY_CELLS = "The row has more cells than there are column names. Is a text not in quotes?"


class RowProblem(NamedTuple):
    """`column` is None if no cell is wrong, but one is missing; `suggestion` is the nearest legal
    text for the cell."""

    sentence: str
    cell: str = ""
    column: int | None = None
    suggestion: str = ""


@dataclass(slots=True)
class RowCheck:
    """A row as it would be made. `settings` are all of its draft, `chosen` those of its cells."""

    row: BatchRow
    title: str = ""
    chosen: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    script_request: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    link: str = ""  # of the web page that it is made from
    problems: list[RowProblem] = field(default_factory=list)
    duplicate: str = ""
    written_script: str = ""  # by the service for an earlier attempt, which paid it

    @property
    def topic(self) -> str:
        return str(self.chosen.get("topic", ""))

    @property
    def has_service_script(self) -> bool:
        """Whether its script is written by the service, from a topic or a web page."""
        return bool(self.topic or (self.link and not self.chosen.get("script")))

    @property
    def needs_script(self) -> bool:
        """Whether the service has to write its script first."""
        return self.has_service_script and not self.written_script

    @property
    def seconds(self) -> int:
        """Return the length of the video: of its script, else the requested one."""
        if self.needs_script:
            return int(self.script_request["duration"])
        return script_length(self.written_script or self.chosen.get("script")).seconds

    @property
    def status(self) -> str:
        """Return problem, left_out, duplicate or ready."""
        if self.row.choice == RowChoice.LEAVE_OUT:
            return "left_out"
        if self.problems:
            return "problem"
        if self.duplicate and self.row.choice != RowChoice.MAKE:
            return "duplicate"
        return "ready"


class RowRules:
    """What rows of a batch are checked with: the options of an account, and what a new draft of
    each type starts with. A few queries for each type, none for a row."""

    def __init__(self, by: Membership, token: Token, batch: Batch) -> None:
        self.by, self.batch, self.account = by, batch, token.account
        self.options = account_options(token.account)
        self.kit = BrandKit.objects.filter(team=by.team_id).first()
        self.columns = list(batch.columns)
        self.default_type = starting_type({}, batch.preset or by.default_preset)
        self.types: dict[str, TypeRules] = {}

    def of_type(self, type_: str) -> TypeRules:
        if type_ not in self.types:
            self.types[type_] = TypeRules(self, FLOWS[type_])
        return self.types[type_]

    def check(self, row: BatchRow) -> RowCheck:
        check = RowCheck(row)
        values = row.values(self.columns)
        if len(row.cells) > len(self.columns):
            at = len(self.columns)
            check.problems.append(RowProblem(TOO_MANY_CELLS, cell_name(at, row.number), at))
        type_ = self.clean_type(check, values)
        self.of_type(type_).fill(check, values)
        return check

    def clean_type(self, check: RowCheck, values: Mapping[str, str]) -> str:
        if not (text := values.get("type")):
            return FROM_WEB_PAGE.type if "link" in values else self.default_type
        offered = {flow.type: flow.label for flow in FLOWS.values()}
        by_text = {word.casefold(): type_ for pair in offered.items() for word in pair
                   for type_ in [pair[0]]}  # fmt: skip
        if type_ := by_text.get(text.casefold()):
            return type_
        labels = list(offered.values())
        self.add_problem(check, "type", not_a_choice(text, "type", labels), nearest(text, labels))
        return self.default_type

    def add_problem(self, check: RowCheck, name: str, sentence: str, suggestion: str = "") -> None:
        if name not in self.columns:
            check.problems.append(RowProblem(sentence))
            return
        column = self.columns.index(name)
        cell = cell_name(column, check.row.number)
        check.problems.append(RowProblem(sentence, cell, column, suggestion))


class TypeRules:
    """The fields of one video type, and the settings that its new drafts start with."""

    def __init__(self, rules: RowRules, flow: Flow) -> None:
        self.rules, self.flow = rules, flow
        by, account, options = rules.by, rules.account, rules.options
        start = {"type": flow.type}
        # Drafts of its own rows are no base: an empty cell stays what the dry run showed.
        until = rules.batch.started_at
        self.fallback = load_default_settings(by, account, options, flow, start, until)
        base = build_draft_start(by, account, start, rules.batch.preset, self.fallback, rules.kit)
        self.settings = base.settings
        self.script_request = {"duration": DEFAULT_SCRIPT_DURATION_S, **base.script_request}
        self.fields = build_fields(account, options, flow)
        self.choices = {name: choice_texts(one) for name, one in self.fields.items()}

    def fill(self, check: RowCheck, values: Mapping[str, str]) -> None:
        """Add to the check what the row has, and what is wrong with it."""
        cleaned = self.clean_cells(check, values)
        topic, script = cleaned.get("topic", ""), cleaned.get("script", "")
        check.link = cleaned.get("link", "")
        if self.flow.reads_page and "link" not in values:
            self.rules.add_problem(check, "link", NO_LINK)
        elif topic and script:
            self.rules.add_problem(check, "script", BOTH_TEXTS)
        elif not (values.keys() & {"topic", "script", "link"}):
            self.rules.add_problem(check, "topic", NO_TEXT)
        check.title = cleaned.get("title") or read_start_text(topic or script or check.link).title
        check.label = values.get("label", "")[:MAX_LABEL_NAME_CHARS]
        check.chosen = {"type": self.flow.type} | {
            name: value
            for name, value in cleaned.items()
            if name in OPTION_FIELDS or (name in ("topic", "script") and value)
        }
        words = {name: cleaned[name] for name in SCRIPT_REQUEST_FIELDS if cleaned.get(name)}
        check.script_request = {**self.script_request, **words}
        check.settings = {**self.settings, **check.chosen, "title": check.title}
        if not check.problems:
            self.add_unmet(check)

    def clean_cells(self, check: RowCheck, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the cleaned values of the cells that are legal. An empty cell is checked where the
        studio requires a value that nothing else gives."""
        cleaned: dict[str, Any] = {}
        for name, text in values.items():
            if name == "type":
                continue
            if FORMULA_RE.match(text):
                self.rules.add_problem(check, name, FORMULA)
            elif name in self.fields:
                self.clean_cell(check, cleaned, name, text)
            elif name != "label":
                noun = FIELD_LABELS[name].lower()
                self.rules.add_problem(
                    check, name, NOT_OF_TYPE.format(type=self.flow.label, noun=noun)
                )
        is_written = "topic" in values or ("link" in values and "script" not in values)
        for name in SCRIPT_REQUEST_FIELDS:
            if is_written and name not in values and not self.script_request.get(name):
                self.clean_cell(check, cleaned, name, "")
        return cleaned

    def clean_cell(self, check: RowCheck, cleaned: dict[str, Any], name: str, text: str) -> None:
        one, offered = self.fields[name], self.choices[name]
        if offered and text:
            found = offered.get(text.casefold()) or offered.get(SECONDS_RE.sub(r"\1", text))
            if found is None:
                labels = [str(label) for value, label in choice_pairs(one) if value]
                noun = FIELD_LABELS[name].lower()
                self.rules.add_problem(
                    check, name, not_a_choice(text, noun, labels), nearest(text, labels)
                )
                return
            text = found
        try:
            cleaned[name] = one.clean(text)
        except ValidationError as error:
            self.rules.add_problem(check, name, " ".join(error.messages))

    def add_unmet(self, check: RowCheck) -> None:
        """Add what a render of it would lack, by the preconditions of its type."""
        chosen = {**check.settings, "assets": check.link}  # read from the page when it begins
        chosen["script"] = check.settings.get("script") or check.topic or check.link
        unmet: dict[str, str] = {}
        for need in self.flow.preconditions:
            if refusal := need.find_refusal(chosen, self.rules.options):
                unmet.setdefault(need.field, refusal)
        for name, refusal in unmet.items():
            self.rules.add_problem(check, name, refusal)


def build_fields(account: Account, options: FacelessOptions, flow: Flow) -> dict[str, forms.Field]:
    """Return the studio's fields of a type by name; only their cleaning is used."""
    words = requires_script_words(Job(account=account))
    request = WriteScriptForm(options, requires_words=words).fields
    fields: dict[str, forms.Field] = {
        "title": TitleField(),
        **(
            {"link": PageAddressField()}
            if flow.reads_page
            else {"topic": TopicField(required=False)}
        ),
        "script": ScriptField(required=False, rows=1),
        **{name: request[name] for name in SCRIPT_REQUEST_FIELDS},
        **{name: option_field(setting, options) for name, setting in flow.settings.items()},
    }
    for name, one in fields.items():
        one.label = FIELD_LABELS[name]
        one.error_messages["max_length"] = "It is too long."
        if one.error_messages.get("required") == forms.Field.default_error_messages["required"]:
            one.error_messages["required"] = required_message(name, one)
    return fields


def option_field(setting: OptionSetting, options: FacelessOptions) -> OptionField:
    return OptionField(setting, options, is_partial=True)


def choice_pairs(one: forms.Field) -> list[tuple[Any, Any]]:
    return [*one.choices] if isinstance(one, forms.ChoiceField) else []  # type: ignore[misc]


def choice_texts(one: forms.Field) -> dict[str, str]:
    """Return the value of each text that stands for a choice: its name, its slug, its value."""
    texts = {str(label).casefold(): str(value) for value, label in choice_pairs(one) if value}
    offered = one.offered if isinstance(one, OptionField) else {}
    for value, choice in offered.items():
        texts.setdefault(choice.slug.casefold(), value)
    for value, _ in choice_pairs(one):
        texts.setdefault(str(value).casefold(), str(value))
    return texts


def not_a_choice(text: str, noun: str, labels: Sequence[str]) -> str:
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    sentence = NOT_A_CHOICE.format(text=shown, noun=noun)
    if near := nearest(text, labels):
        return f"{sentence} The nearest is {near}."
    if 0 < len(labels) <= MAX_LISTED_CHOICES:
        return f"{sentence} Possible are {', '.join(labels)}."
    return f"{sentence} {CHOOSE_FROM_LIST}"


def nearest(text: str, labels: Sequence[str]) -> str:
    by_text = {label.casefold(): label for label in labels}
    found = get_close_matches(text.casefold(), by_text, n=1)
    return by_text[found[0]] if found else ""


def find_columns(headers: Sequence[str]) -> list[str]:
    """Return the field of each column by its name; "" for what is not known, and for the second
    column of a field."""
    known = {word.casefold(): name for name, word in FIELD_LABELS.items()} | HEADER_WORDS
    known |= {name.replace("_", " "): name for name in FIELD_LABELS}
    known |= {name.removesuffix("_id").replace("_", " "): name for name in FIELD_LABELS}
    columns: list[str] = []
    for header in headers:
        name = known.get(" ".join(header.casefold().replace("_", " ").split()), "")
        columns.append(name if name not in columns else "")
    return columns


def paid_script(check: RowCheck, job: Job) -> str:
    """Return the script that the service wrote for an earlier attempt of a row, which paid it;
    empty if the row asks for another one now. The job has its draft, origin and page read."""
    origin, page_read = draft_origin(job), getattr(job, "page_read", None)
    asked = origin.script_request if origin else {}
    is_same = (
        check.has_service_script
        and check.topic == job.chosen_settings.get("topic", "")
        and check.link == (page_read.url if page_read else "")
        and all(asked.get(name) == value for name, value in check.script_request.items())
    )
    return str(job.chosen_settings.get("script") or "") if is_same else ""


def table_of_ideas(ideas: Sequence[Idea]) -> Table:
    """Return a row for each idea: its title is the topic, as that of a draft."""
    cells = ([shorten_title(one.title), one.title[:MAX_TOPIC_CHARACTERS]] for one in ideas)
    return Table(["title", "topic"], dict(enumerate(cells, start=1)))


def mark_duplicates(batch: Batch, checks: Iterable[RowCheck]) -> None:
    """Mark rows that repeat an earlier one that is made, and those with the title of a video of the
    last 90 days. One query."""
    since = timezone.now() - DUPLICATE_MAX_AGE
    jobs = Job.objects.visible().filter(tenant=batch.team.tenant_id, kind=JobKind.FACELESS)
    jobs = jobs.filter(created_at__gt=since).order_by("created_at")
    titles = {title.casefold() for title in jobs.values_list("title", flat=True)}
    first: dict[tuple[str, str], int] = {}
    for check in checks:
        if not check.title or check.row.choice == RowChoice.LEAVE_OUT:
            continue
        text = str(check.topic or check.link or check.chosen.get("script", ""))
        key = (check.title.casefold(), text.casefold())
        number = first.setdefault(key, check.row.number)
        if number != check.row.number:
            check.duplicate = f"The same title and text as row {number}."
        elif check.title.casefold() in titles:
            check.duplicate = "A video of the last 90 days has this title."
