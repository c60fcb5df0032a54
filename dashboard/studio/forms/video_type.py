"""The form of the Type step: title, type and format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms

from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows import FLOWS, FORMAT, Flow, FlowStep, flow_of, type_refusal
from dashboard.studio.forms.fields import OptionField, TitleField
from dashboard.studio.forms.steps import StepForm
from proxyapi.kinds.page_reading import URL_BASED
from proxyapi.models import Job

FORMAT_NOT_MADE = "{} cannot be made in {}. Choose another format."


@dataclass(frozen=True, slots=True)
class TypeCard:
    """`reason`: why the type cannot be chosen. `past_cost`: what the team's last renders of 60 s
    cost, in credits; None without any."""

    flow: Flow
    chosen: bool
    reason: str = ""
    past_cost: Decimal | None = None


class TypeForm(StepForm):
    """Title, type and format. The formats are those of the type that is chosen in the form.

    `past_costs`: what the team's last renders of 60 s cost by type, in credits.
    """

    title = TitleField()
    type = forms.ChoiceField(
        choices=[(flow.type, flow.label) for flow in FLOWS.values()],
        error_messages={"required": "Choose a type.", "invalid_choice": "Choose a type."},
    )

    def __init__(
        self,
        job: Job,
        step: FlowStep,
        options: FacelessOptions,
        data: Any = None,
        *,
        is_partial: bool = False,
    ) -> None:
        super().__init__(job, step, options, data, is_partial=is_partial)
        self.past_costs: Mapping[str, Decimal] = {}
        self.fields["type"].disabled = self.is_locked
        field = self.fields.get(FORMAT.name)
        if isinstance(field, OptionField):
            self.limit_formats(field)

    def limit_formats(self, field: OptionField) -> None:
        """Offer the formats that the type makes. A posted one that another type makes and this one
        does not is left out, so that the type can be changed."""
        offered, made = field.offered, self.formats_made(field)
        field.offered = made
        field.choices = [(value, choice.name) for value, choice in made.items()]
        if not self.job.draft.settings.get(FORMAT.name):
            self.initial[FORMAT.name] = next(iter(made), None)
        posted = self.data.get(FORMAT.name)
        if posted not in offered or posted in made:
            return
        error = FORMAT_NOT_MADE.format(self.flow.label, posted)
        field.error_messages |= {"required": error, "invalid_choice": error}
        if self.flow != flow_of(self.job):
            self.data = {name: self.data[name] for name in self.data if name != FORMAT.name}

    def formats_made(self, field: OptionField) -> dict[str, Any]:
        chosen = self.job.draft.settings
        kept = {name: value for name, value in chosen.items() if name in self.flow.settings}
        made = {
            value: choice
            for value, choice in field.offered.items()
            if self.flow.makes_format(value, kept, self.options)
        }
        return made or field.offered

    @property
    def flow(self) -> Flow:
        """Return the flow of the type that is chosen in the form."""
        return FLOWS.get(str(self["type"].value()), flow_of(self.job))

    @property
    def is_locked(self) -> bool:
        """True if the service has fixed the type."""
        return self.job.remote_id is not None and flow_of(self.job).type == URL_BASED

    @property
    def type_cards(self) -> tuple[TypeCard, ...]:
        """Return every type; of a fixed one only itself."""
        own = flow_of(self.job)
        if self.is_locked:
            return (TypeCard(own, chosen=True),)
        chosen = self["type"].value()
        return tuple(
            TypeCard(
                flow,
                flow.type == chosen,
                type_refusal(self.job, flow.type),
                self.past_costs.get(flow.type),
            )
            for flow in FLOWS.values()
        )

    @property
    def copy_types(self) -> tuple[Flow, ...]:
        """Return the types that a draft of a fixed type can be copied to."""
        return tuple(flow for flow in FLOWS.values() if flow.type != URL_BASED)

    def clean_type(self) -> str:
        type_ = str(self.cleaned_data["type"])
        if refusal := type_refusal(self.job, type_):
            raise forms.ValidationError(refusal)
        return type_
