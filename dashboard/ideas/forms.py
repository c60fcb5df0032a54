"""The form of a search, and the words that are checked while they are typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.text_validation import reject_invisible

MIN_KEYWORD_CHARS, MAX_KEYWORD_CHARS, MAX_NETWORK_CHARS = 2, 100, 60
OTHER_NETWORK = "other"


class SearchWordField(forms.CharField):
    """A line of visible text with single spaces. `limit` is shown at the label's end."""

    limit = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        reject_invisible(self)

    def to_python(self, value: Any) -> str:
        words = (super().to_python(value) or "").split(" ")  # other white space is refused
        return " ".join(filter(None, words))


class IdeaSearchForm(ConfirmForm):
    """The keyword, one of the offered networks or another one, and the price that was shown."""

    keyword = SearchWordField(
        min_length=MIN_KEYWORD_CHARS,
        max_length=MAX_KEYWORD_CHARS,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    network = forms.ChoiceField(label="Network")
    other_network = SearchWordField(
        required=False,
        max_length=MAX_NETWORK_CHARS,
        label="Other network",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, networks: Mapping[str, str], data: Any = None) -> None:
        initial = {"network": next(iter(networks))}
        super().__init__(data, initial=initial, use_required_attribute=False)
        self.fields["keyword"].limit = f"{MAX_KEYWORD_CHARS} characters"  # type: ignore[attr-defined]
        choices = [*networks.items(), (OTHER_NETWORK, "Other")]
        self.fields["network"] = forms.ChoiceField(
            label="Network", choices=choices, widget=forms.RadioSelect
        )

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if cleaned.get("network") == OTHER_NETWORK and "other_network" not in self.errors:
            cleaned["network"] = cleaned["other_network"]
            if not cleaned["network"]:
                self.add_error("other_network", "Enter the network as the service calls it.")
        return cleaned

    @property
    def words(self) -> tuple[str, str]:
        """Return keyword and network as far as they are valid, for what is known of them."""
        self.is_valid()
        cleaned = getattr(self, "cleaned_data", {})
        return str(cleaned.get("keyword", "")), str(cleaned.get("network", ""))
