"""Forms of batches: the file, the settings of a batch, the cells of a row, its limits."""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePath
from typing import Any

from django import forms

from dashboard.batches.row_checks import FIELD_LABELS
from dashboard.batches.spreadsheet import is_spreadsheet, read_spreadsheet
from dashboard.batches.table_file import (
    LIMITS_TEXT,
    MAX_FILE_BYTES,
    TOO_LARGE,
    Table,
    cell_name,
    read_table,
    read_table_file,
)
from dashboard.models import MAX_AT_ONCE, Batch, BatchRow, RowChoice, Team
from dashboard.models.batch import MAX_BATCH_NAME_CHARS
from dashboard.shared.forms import PortalForm, UploadField
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.typed_numbers import limit_input_value
from proxyapi.refusals import Refusal

FILE_OR_ROWS = "Choose a file, or paste rows."
SAME_FIELD_TWICE = "Two columns go to {name}. Choose “Not used” for one of them."
HEADER_TWICE = (
    "Several columns are named “{name}”. The first one is used; choose the fields of the others "
    "under Columns."
)
PASTED_NAME = "Pasted rows"
COLUMN_CHOICES = [("", "Not used"), *FIELD_LABELS.items()]
NOT_TYPED = {"autocomplete": "off", "dir": "auto"}


class BatchNameField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(label="Name", max_length=MAX_BATCH_NAME_CHARS, **options)
        self.widget.attrs |= NOT_TYPED
        reject_invisible(self)


def preset_field(team: Team) -> forms.Field:
    return forms.ModelChoiceField(
        team.presets.all(),
        required=False,
        empty_label="None",
        help_text="Used for every cell that is empty.",
        error_messages={"invalid_choice": "This preset was deleted. Choose another one."},
    )


class NewBatchForm(PortalForm):
    """A file or pasted rows. `table` is what was read, `note` what is to be said of it."""

    note = ""
    file = UploadField(
        required=False,
        help_text=LIMITS_TEXT,
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx,text/csv"}),
    )
    rows = forms.CharField(
        required=False,
        strip=False,
        label="Or paste rows",
        help_text="From a spreadsheet, with the line of column names.",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", **NOT_TYPED}),
    )
    name = BatchNameField(required=False, help_text="Without one, the name of the file.")

    def __init__(self, team: Team, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files, use_required_attribute=False)
        self.fields["preset"] = preset_field(team)

    def clean(self) -> dict[str, Any]:
        file, rows = self.cleaned_data.get("file"), self.cleaned_data.get("rows", "")
        if "file" in self.errors or "rows" in self.errors:
            return self.cleaned_data
        try:
            if file:
                self.table, self.note = read_upload(file)
            elif rows.strip():
                self.table = read_table(rows)
            else:
                self.add_error("file", FILE_OR_ROWS)
        except Refusal as refusal:
            self.add_error("file" if file else "rows", refusal.sentence)
        return self.cleaned_data

    @property
    def notes(self) -> list[str]:
        """Return what is to be said of a table that was read."""
        headers = [header.casefold() for header in self.table.headers if header]
        twice = sorted({header for header in headers if headers.count(header) > 1})
        return [self.note] * bool(self.note) + [HEADER_TWICE.format(name=name) for name in twice]

    @property
    def file_name(self) -> str:
        file = self.cleaned_data["file"]
        return "".join(sign for sign in str(file.name) if sign.isprintable()) if file else ""

    @property
    def batch_name(self) -> str:
        return self.cleaned_data["name"] or PurePath(self.file_name).stem.strip() or PASTED_NAME


def read_upload(file: Any) -> tuple[Table, str]:
    """Refuse a file by its size before it is read."""
    if file.size > MAX_FILE_BYTES:
        raise Refusal(TOO_LARGE)
    data = file.read()
    return read_spreadsheet(data) if is_spreadsheet(data) else (read_table_file(data), "")


class BatchLimitField(forms.DecimalField):
    """What a batch may spend and hold, as precise as amounts are kept: a limit that is shown can be
    sent again."""

    def __init__(self, **options: Any) -> None:
        options |= {"label": "Stop at credits", "min_value": 1}
        super().__init__(max_digits=14, decimal_places=4, **options)

    def prepare_value(self, value: Any) -> Any:
        return limit_input_value(value) if isinstance(value, Decimal) else value


class BatchForm(PortalForm):
    """The settings of a batch that has not started; a field for each column of the file."""

    name = BatchNameField()
    at_once = forms.TypedChoiceField(
        label="At once",
        coerce=int,
        choices=[(count, str(count)) for count in range(1, MAX_AT_ONCE + 1)],
    )
    max_credits = BatchLimitField(
        required=False,
        help_text="Never spends and holds more. Empty: what all rows may cost.",
    )
    max_failures = forms.IntegerField(
        label="Stop after failures", min_value=0, max_value=500, help_text="0: no limit."
    )

    def __init__(self, batch: Batch, data: Any = None) -> None:
        own = ("name", "preset", "at_once", "max_credits", "max_failures")
        initial = {name: getattr(batch, name) for name in own}
        super().__init__(data, initial=initial, use_required_attribute=False)
        self.fields["preset"] = preset_field(batch.team)
        self.column_names = [f"column-{at}" for at, _ in enumerate(batch.headers)]
        for name, header, chosen in zip(
            self.column_names, batch.headers, batch.columns, strict=True
        ):
            self.fields[name] = forms.ChoiceField(
                required=False, label=header or "(no name)", choices=COLUMN_CHOICES, initial=chosen
            )

    @property
    def column_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.column_names]

    @property
    def settings_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.column_names]

    def clean(self) -> dict[str, Any]:
        used: set[str] = set()
        for name in self.column_names:
            chosen = self.cleaned_data.get(name)
            if chosen and chosen in used:
                self.add_error(name, SAME_FIELD_TWICE.format(name=FIELD_LABELS[chosen]))
            used.add(chosen or "")
        return self.cleaned_data

    def changes(self) -> dict[str, Any]:
        cleaned = dict(self.cleaned_data)
        columns = [cleaned.pop(name) for name in self.column_names]
        return {**cleaned, "columns": columns}


class RowForm(PortalForm):
    """The cells of a row. A cell that is not sent stays as it is: a button sends one."""

    choice = forms.ChoiceField(required=False, choices=RowChoice.choices, label="Make it")
    limit = forms.DecimalField(required=False, widget=forms.HiddenInput)  # that was shown

    def __init__(self, batch: Batch, row: BatchRow, data: Any = None) -> None:
        super().__init__(data, initial={"choice": row.choice}, use_required_attribute=False)
        if not batch.is_draft:
            del self.fields["choice"]
        for at, header in enumerate(batch.headers):
            if not batch.columns[at]:
                continue
            is_long = batch.columns[at] in ("topic", "script")
            widget = forms.Textarea(attrs={"rows": 4}) if is_long else forms.TextInput()
            widget.attrs |= NOT_TYPED
            self.fields[f"cell-{at}"] = forms.CharField(
                required=False,
                label=f"{cell_name(at, row.number)} {header}",
                initial=row.cell(at),
                max_length=30_000,
                widget=widget,
            )

    def changes(self) -> dict[str, Any]:
        cells = {
            int(name.removeprefix("cell-")): self.cleaned_data[name]
            for name in self.fields
            if name.startswith("cell-") and name in self.data
        }
        is_chosen = "choice" in self.data
        return {"cells": cells, "choice": self.cleaned_data.get("choice") if is_chosen else None}


class StartForm(ConfirmForm):
    """With the version of the rows that were shown."""

    hidden_field_names = {**ConfirmForm.hidden_field_names, "version": "the version of the rows"}
    version = forms.CharField(max_length=16)

    def charge_arguments(self) -> dict[str, Any]:
        return {**super().charge_arguments(), "version": self.cleaned_data["version"]}


class ResumeForm(PortalForm):
    max_credits = BatchLimitField()
    max_failures = forms.IntegerField(
        label="Stop after failures", min_value=0, max_value=500, help_text="0: no limit."
    )
