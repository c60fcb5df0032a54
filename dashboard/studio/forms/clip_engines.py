"""The choice of a clip engine with resolution and sound: only combinations that have a price."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dashboard.shared.clip_engines import (
    ClipCombination,
    ClipEngine,
    find_nearest_lower,
    sound_label,
)
from dashboard.shared.video_options import OptionChoice
from dashboard.studio.flows import chosen_combination, find_clip_problem
from dashboard.studio.forms.fields import OptionCard
from dashboard.studio.forms.steps import StepForm
from dashboard.studio.queries.script import ScriptLength, script_length

ENGINE_FIELD, COMBINATION_FIELDS = "clip_engine_id", ("resolution", "audio")
NEEDS_COMBINATION = "Choose the resolution and the sound of {}."
COMBINATION_GONE = "{} does not offer this resolution with this sound. Choose another one."


@dataclass(frozen=True, slots=True)
class PriceCell:
    """A radio button of an engine's prices. `total`: credits for this script, None without one."""

    combination: ClipCombination
    chosen: bool
    total: int | None


@dataclass(frozen=True, slots=True)
class EngineCard:
    """An engine with its prices. `reason`: why it cannot be chosen; `proposal`: the combination
    that is proposed in place of one that is gone."""

    engine: ClipEngine
    chosen: bool
    reason: str
    rows: tuple[tuple[str, tuple[PriceCell, ...]], ...]
    ratios: tuple[OptionCard, ...]
    proposal: ClipCombination | None

    @property
    def note(self) -> str:
        return ", ".join(filter(None, (self.engine.description, self.engine.lengths_text)))

    @property
    def columns(self) -> int:
        return max(1, len(self.engine.resolutions))


class ClipEngineForm(StepForm):
    """The visuals of a type with a clip engine."""

    def clean(self) -> dict[str, Any]:
        super().clean()
        engine = self.options.clip_engine(self.cleaned_data.get(ENGINE_FIELD))
        if engine is None:
            return self.cleaned_data
        if reason := self.blocked_reason(engine):
            self.add_error(ENGINE_FIELD, f"{reason}. Choose another clip engine.")
            return self.cleaned_data
        posted = self.data.get(combination_field(engine))
        if posted is None and len(engine.offered) == 1 and not self.is_saved_engine(engine):
            posted = next(iter(engine.offered))
        combination = engine.offered.get(posted or "")
        if combination:
            self.cleaned_data["resolution"] = combination.resolution or None
            self.cleaned_data["audio"] = combination.audio or None
        elif posted is not None:
            self.add_error(ENGINE_FIELD, COMBINATION_GONE.format(engine.name))
        elif not self.is_partial or not self.is_saved_engine(engine):
            self.add_error(ENGINE_FIELD, NEEDS_COMBINATION.format(engine.name))
        return self.cleaned_data

    def is_cleared(self, name: str) -> bool:
        if name in COMBINATION_FIELDS:
            return name in self.cleaned_data
        return super().is_cleared(name)

    def is_saved_engine(self, engine: ClipEngine) -> bool:
        return str(self.job.draft.settings.get(ENGINE_FIELD) or "") == engine.value

    def blocked_reason(self, engine: ClipEngine) -> str:
        ratio = self.aspect_ratio
        if not engine.is_in_plan:
            plan = self.job.account.plan_name
            return f"Not in the {plan} plan" if plan else "Not in the plan"
        return "" if engine.makes_ratio(ratio) else f"Does not make {ratio}"

    @property
    def aspect_ratio(self) -> str:
        return str(self.job.draft.settings.get("aspect_ratio") or "")

    @property
    def script(self) -> ScriptLength:
        return script_length(self.job.draft.settings.get("script"))

    @property
    def problem(self) -> str:
        """Return why the saved engine cannot make the video; empty if it can or none is saved."""
        return find_clip_problem(self.job.draft.settings, self.options)

    @property
    def proposal(self) -> tuple[ClipEngine, ClipCombination] | None:
        """Return the nearest lower price in place of a choice that is gone. It is never taken
        without a press."""
        if not self.problem:
            return None
        draft, seconds = self.job.draft, self.script.seconds
        estimate = draft.estimate if seconds else None
        return find_nearest_lower(
            [one for one in self.options.clip_engines if not self.blocked_reason(one)],
            str(draft.settings.get(ENGINE_FIELD) or ""),
            estimate / seconds if estimate is not None else None,
        )

    @property
    def engine_cards(self) -> tuple[EngineCard, ...]:
        """Return the engines; those that cannot be chosen last."""
        shown = str(self[ENGINE_FIELD].value() or "")
        proposal = self.proposal
        cards = [
            self.engine_card(
                engine,
                shown == engine.value,
                proposal[1] if proposal and proposal[0].value == engine.value else None,
            )
            for engine in self.options.clip_engines
        ]
        return tuple(sorted(cards, key=lambda card: bool(card.reason)))

    def engine_card(
        self, engine: ClipEngine, chosen: bool, proposal: ClipCombination | None
    ) -> EngineCard:
        selected = self.selected_combination(engine, proposal)
        cells = [self.price_cell(one, selected) for one in engine.combinations]
        width = max(1, len(engine.resolutions))
        rows = [cells[start : start + width] for start in range(0, len(cells), width)]
        reason = self.blocked_reason(engine)
        return EngineCard(
            engine=engine,
            chosen=chosen and not reason,
            reason=reason,
            rows=tuple((sound_label(row[0].combination.audio), tuple(row)) for row in rows),
            ratios=tuple(
                OptionCard(OptionChoice(ratio, ratio), ratio == self.aspect_ratio)
                for ratio in engine.aspect_ratios
            ),
            proposal=proposal,
        )

    def price_cell(self, combination: ClipCombination, selected: str | None) -> PriceCell:
        price, seconds = combination.credits_per_second, self.script.seconds
        total = math.ceil(price * seconds) if price is not None and seconds else None
        return PriceCell(combination, combination.value == selected, total)

    def selected_combination(
        self, engine: ClipEngine, proposal: ClipCombination | None
    ) -> str | None:
        """Return the selected price of an engine's card. Of the saved engine it is the saved one,
        so that none is selected if it is gone; of another engine the same one, else the lowest."""
        if self.is_bound and combination_field(engine) in self.data:
            return str(self.data[combination_field(engine)])
        saved = chosen_combination(self.job.draft.settings).value
        if saved in engine.offered or self.is_saved_engine(engine):
            return saved
        lowest = min(
            engine.offered.values(),
            key=lambda one: one.credits_per_second or Decimal(0),
            default=None,
        )
        chosen = proposal or lowest
        return chosen.value if chosen else None


def combination_field(engine: ClipEngine) -> str:
    """Return the name of the field with an engine's resolution and sound."""
    return f"combination-{engine.value}"
