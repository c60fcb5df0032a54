"""Validation messages for all forms, in place of Django's defaults. No message repeats the
input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django import forms
from django.forms.utils import pretty_name

from dashboard.models.email_address import parse_address
from dashboard.shared.text_validation import INVISIBLE_CHARACTER, MAX_REASON_CHARS, reject_invisible
from proxyapi.refusals import Refusal

EMPTY_FILE = "“{name}” is empty. Choose another file."
TOO_LONG = "At most %(limit_value)d characters are allowed (now %(show_value)d)."
CHOOSE_FROM_LIST = "Choose one from the list."
VERSION_LABEL = "the version of the data"
# Nobody typed a hidden field: only a reload can repair it.
HIDDEN_FIELD_DAMAGED = (
    "Nothing was saved or sent: {what} in this form is missing or damaged. Reload the page and "
    "try again."
)
ERROR_MESSAGES = {
    "invalid_choice": CHOOSE_FROM_LIST,
    "invalid_list": CHOOSE_FROM_LIST,
    "max_length": TOO_LONG,
    "min_length": "At least %(limit_value)d characters are required (now %(show_value)d).",
    "min_value": "The minimum is %(limit_value)s.",
    "max_value": "The maximum is %(limit_value)s.",
    "max_digits": "At most %(max)s digits are allowed.",
    "max_decimal_places": "At most %(max)s decimal places are allowed.",
    "max_whole_digits": "At most %(max)s digits before the decimal point are allowed.",
    "null_characters_not_allowed": INVISIBLE_CHARACTER,
}
INVALID_MESSAGES: Mapping[type[forms.Field], str] = {
    forms.IntegerField: "Enter a whole number.",
    forms.DecimalField: "Enter a number.",
    forms.URLField: "Enter an address that starts with https://.",
    forms.EmailField: "Enter an e-mail address, such as name@example.com.",
}


class AddressField(forms.EmailField):
    """An e-mail address; its cleaned value is the stored form."""

    def to_python(self, value: Any) -> str:
        text = str(super().to_python(value))
        return parse_address(text) or text

    def clean(self, value: Any) -> str:
        address = str(super().clean(value))
        if address and not parse_address(address):
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return address


class UploadField(forms.FileField):
    """An uploaded file; an empty one is refused by its name."""

    def to_python(self, data: Any) -> Any:
        try:
            return super().to_python(data)
        except forms.ValidationError as error:
            if error.code != "empty":
                raise
            name = "".join(sign for sign in str(data.name) if sign.isprintable())
            raise forms.ValidationError(EMPTY_FILE.format(name=name), code="empty") from None


class ReasonField(forms.CharField):
    """The reason of a decision. `required`: what to say without one."""

    def __init__(self, *, required: str, **options: Any) -> None:
        super().__init__(
            **{"label": "Why", "max_length": MAX_REASON_CHARS, **options},
            error_messages={"required": required},
        )
        reject_invisible(self)


class PortalForm(forms.Form):
    """A form with these messages. Errors of hidden fields are shown above the form."""

    # Fields that a template renders as hidden inputs by hand, and their names in messages.
    hidden_field_names: ClassVar[Mapping[str, str]] = {}

    def full_clean(self) -> None:
        for name, field in self.fields.items():
            replace_default_messages(field, self.messages_for_field(name, field))
        super().full_clean()
        for name in [name for name in self.errors if self.is_hidden(name)]:
            for sentence in self.errors.pop(name):
                self.add_error(None, sentence)

    def is_hidden(self, name: str) -> bool:
        return name in self.hidden_field_names or (name in self.fields and self[name].is_hidden)

    def messages_for_field(self, name: str, field: forms.Field) -> dict[str, str]:
        if self.is_hidden(name):
            what = self.hidden_field_names.get(name) or field.label or "a hidden field"
            return dict.fromkeys(
                [*ERROR_MESSAGES, "required", "invalid"], HIDDEN_FIELD_DAMAGED.format(what=what)
            )
        invalid = next(
            (INVALID_MESSAGES[kind] for kind in INVALID_MESSAGES if isinstance(field, kind)), ""
        )
        return {
            **ERROR_MESSAGES,
            "required": required_message(name, field),
            "invalid": invalid or INVISIBLE_CHARACTER,
        }

    def first_error(self) -> str:
        """Return the first error message; empty for a valid form."""
        return next((str(sentences[0]) for sentences in self.errors.values()), "")

    def form_error(self) -> str:
        """Return the errors of the whole form and of its hidden fields."""
        return " ".join(str(sentence) for sentence in self.non_field_errors())


def required_message(name: str, field: forms.Field) -> str:
    if isinstance(field, forms.ChoiceField):
        return CHOOSE_FROM_LIST
    noun = (field.label or pretty_name(name)).lower()
    return f"Enter {'an' if noun[0] in 'aeiou' else 'a'} {noun}."


def replace_default_messages(field: forms.Field, messages: Mapping[str, str]) -> None:
    """Replace Django's default messages; messages that the field defines itself stay."""
    defaults: dict[str, Any] = {}
    for kind in reversed(type(field).__mro__):
        defaults |= getattr(kind, "default_error_messages", {})
    for code, sentence in messages.items():
        if field.error_messages.get(code) == defaults.get(code):
            field.error_messages[code] = sentence


def run_or_add_error(
    form: forms.BaseForm, action: Callable[[], object], field: str | None = None
) -> bool:
    """Carry the action out and return True; a refusal becomes an error of the form."""
    try:
        action()
    except Refusal as refusal:
        form.add_error(field, refusal.sentence)
        return False
    return True
