"""Forms of the alerts page: all rules, a new rule, a new webhook."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple, Self

from django import forms
from django.forms import BoundField

from dashboard.alerts.actions import AlertRuleChange, alert_rule_version, webhook_version
from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import ALERTS, AlertRule, AlertWebhook, WebhookFormat
from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.typed_numbers import TypedNumberField
from proxyapi.models import ApiEventType

ALERTS_LABEL = "alerts, as their rules say"
NO_EVENT = "Choose at least one event. To get none, remove the webhook."
THRESHOLD_OUT_OF_RANGE = "Enter a whole number from {least:,} to {most:,}."
RULE_CHECKBOXES = ("active", "by_email", "by_webhook")


class AlertRuleRow(NamedTuple):
    sentence: str
    version: BoundField
    threshold: BoundField | None
    unit: str
    active: BoundField
    by_email: BoundField
    by_webhook: BoundField


class AlertRulesForm(PortalForm):
    """A threshold and three checkboxes per rule, and the hidden version that the form was built
    from. A rule that was added after that stays unchanged."""

    def __init__(self, rules: list[AlertRule], data: Any = None) -> None:
        data_by_rule = {rule.pk: alert_rule_form_data(rule) for rule in rules}
        if data is not None:
            data = {name: data[name] for name in data}
            for key, rule_data in data_by_rule.items():
                data |= {} if f"drawn-{key}" in data else rule_data
        initial = {
            name: value for rule_data in data_by_rule.values() for name, value in rule_data.items()
        }
        super().__init__(data, initial=initial, use_required_attribute=False)
        self.rules = rules
        for rule in rules:
            self.fields[f"drawn-{rule.pk}"] = forms.CharField(
                required=False, widget=forms.HiddenInput, label=VERSION_LABEL
            )
            for checkbox in RULE_CHECKBOXES:
                self.fields[f"{checkbox}-{rule.pk}"] = forms.BooleanField(required=False)
            if limits := ALERT_KINDS[rule.kind].threshold:
                least, most, _unit = limits
                error = THRESHOLD_OUT_OF_RANGE.format(least=least, most=most)
                self.fields[f"threshold-{rule.pk}"] = TypedNumberField(
                    error, min_value=least, max_value=most
                )

    def with_current_version(self, rules: list[AlertRule]) -> Self:
        """The changed values on top of the current rules, so that saving again applies them. Needs
        a valid form."""
        changed_ids = {change.id for change in self.requested_changes() if change.is_changed}
        data: dict[str, Any] = {}
        for rule in rules:
            data |= alert_rule_form_data(rule)
            if rule.pk in changed_ids:
                names = [f"{name}-{rule.pk}" for name in ("threshold", *RULE_CHECKBOXES)]
                data |= {name: self.data.get(name) for name in names}
        return type(self)(rules, data)

    def rows(self) -> Iterator[AlertRuleRow]:
        """The fields of each rule, for its row of the table."""
        for rule in self.rules:
            name = f"threshold-{rule.pk}"
            threshold = self[name] if name in self.fields else None
            checkboxes = tuple(self[f"{checkbox}-{rule.pk}"] for checkbox in RULE_CHECKBOXES)
            spec = ALERT_KINDS[rule.kind]
            unit = spec.threshold.unit if spec.threshold else ""
            version = self[f"drawn-{rule.pk}"]
            yield AlertRuleRow(spec.sentence, version, threshold, unit, *checkboxes)

    def requested_changes(self) -> Iterator[AlertRuleChange]:
        for rule in self.rules:
            active, by_email, by_webhook = (
                self.cleaned_data[f"{checkbox}-{rule.pk}"] for checkbox in RULE_CHECKBOXES
            )
            threshold = self.cleaned_data.get(f"threshold-{rule.pk}", rule.threshold)
            version = self.cleaned_data[f"drawn-{rule.pk}"]
            yield AlertRuleChange(rule.pk, threshold, active, by_email, by_webhook, version)


def alert_rule_form_data(rule: AlertRule) -> dict[str, Any]:
    """The data that an unchanged form would submit for this rule."""
    checkboxes = {f"{checkbox}-{rule.pk}": getattr(rule, checkbox) for checkbox in RULE_CHECKBOXES}
    threshold = f"{rule.threshold.normalize():f}"
    return {
        **checkboxes,
        f"threshold-{rule.pk}": threshold,
        f"drawn-{rule.pk}": alert_rule_version(rule),
    }


class NewAlertRuleForm(PortalForm):
    """A new rule of a kind with thresholds."""

    kind = forms.ChoiceField(
        label="Condition",
        choices=[
            (kind, spec.rule_form_label) for kind, spec in ALERT_KINDS.items() if spec.threshold
        ],
    )
    threshold = TypedNumberField(
        "Enter a whole number, such as 1,000.",
        label="How many",
        help_text="Credits, days, failures or minutes, depending on the rule above.",
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, use_required_attribute=False)

    def clean_threshold(self) -> Decimal:
        threshold = Decimal(self.cleaned_data["threshold"])
        spec = ALERT_KINDS.get(self.cleaned_data.get("kind", ""))
        if spec is None or spec.threshold is None:
            return threshold  # the error is on the other field
        least, most, _unit = spec.threshold
        if not least <= threshold <= most:
            raise forms.ValidationError(THRESHOLD_OUT_OF_RANGE.format(least=least, most=most))
        return threshold


class EventTypesField(forms.MultipleChoiceField):
    """The types of events that a webhook gets, and the alerts of the rules as one of them."""

    def __init__(self) -> None:
        super().__init__(
            label="Events",
            required=False,
            choices=[(ALERTS, ALERTS_LABEL), *ApiEventType.choices],
            widget=forms.CheckboxSelectMultiple,
        )


class WebhookSettingsForm(PortalForm):
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=AlertWebhook._meta.get_field("name").max_length,
        help_text="Optional, such as the channel. Tells webhooks of one host apart.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    event_types = EventTypesField()

    def __init__(self, data: Any, initial: dict[str, Any], auto_id: str) -> None:
        super().__init__(data, initial=initial, auto_id=auto_id, use_required_attribute=False)
        reject_invisible(self.fields["name"])


class WebhookForm(WebhookSettingsForm):
    url = forms.URLField(
        label="Address",
        max_length=500,
        assume_scheme="https",
        help_text="A public https address.",
        error_messages={
            "required": "Enter the address that alerts are sent to.",
            "invalid": "This is not an address. It must start with https://.",
        },
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    message_format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "Detect from the address"), *WebhookFormat.choices],
        help_text="Slack, Discord and Microsoft Teams get a message with a link.",
    )
    field_order = ("url", "message_format", "name", "event_types")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, {"event_types": [ALERTS]}, "id_%s")


class EditWebhookForm(WebhookSettingsForm):
    """`drawn` is the version of the webhook that the form was built from."""

    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)

    def __init__(self, hook: AlertWebhook, data: Any = None) -> None:
        # Its dialog opens over the page that adds a webhook.
        initial = {
            "name": hook.name,
            "event_types": hook.event_types,
            "drawn": webhook_version(hook),
        }
        super().__init__(data, initial, "edit_%s")
        self.fields["event_types"].required = True
        self.fields["event_types"].error_messages["required"] = NO_EVENT

    def with_current_version(self, hook: AlertWebhook) -> EditWebhookForm:
        """The submitted values on top of the current webhook, so that saving again applies them."""
        data: Any = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
        data["drawn"] = webhook_version(hook)
        self.data = data
        return self


class RotateWebhookForm(RecentAuthenticationForm):
    confirmation_purpose = "to rotate the secret"
