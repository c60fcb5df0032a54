"""The page of a new storyboard: engines, formats, what it costs now, and about how much later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256

from dashboard.models import Membership
from dashboard.shared.clip_engines import leading_number
from dashboard.shared.clip_menus import (
    MenuField,
    ModelRow,
    build_format_fields,
    build_model_row,
    lengths_text,
)
from dashboard.shared.clip_models import ClipModel, FittedSettings, estimate_from_list
from dashboard.shared.formatting import credits
from dashboard.shared.storyboards.clip_prices import FREE_CLIPS_NOTE, ClipPriceForm, clip_price_form
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.storyboards.queries.writing_price import WritingPrice, build_writing_price
from proxyapi.models import Account, Storyboard, StoryboardMode, Token, TokenState

HIGH_RESOLUTION_LINES = 720
ADD_ONE_TITLE = "Add your API token to make storyboards."
ADD_ONE_TEXT = "A storyboard is made with your own token. What you write here is kept in this form."
STOPPED_TITLE = "Your token stopped working. Add a new token."
NO_MODELS = "The engines of your plan are being read. You can choose one in the editor."
CONFIRM_NOTE = "You confirm the price before anything is charged."
FREE_NOTE = "Creating it is free. You see the price before clips or the film are made."


@dataclass(frozen=True, slots=True)
class StartNotice:
    """A banner; `add_token`: the reader can solve it by adding a token."""

    state: str
    title: str
    text: str = ""
    add_token: bool = False


@dataclass(frozen=True, slots=True)
class LaterCost:
    """About what the clips of the film cost. `lengths` such as `6 or 10 s`; `total` is empty if
    clips are free."""

    scene_count: int
    lengths: str
    note: str
    total: str

    @property
    def title(self) -> str:
        """Return a text such as `8 clips of 6 or 10 s`."""
        return f"{self.scene_count} clip{'' if self.scene_count == 1 else 's'} of {self.lengths}"


@dataclass(frozen=True, slots=True)
class StartPage:
    """`disabled_reason`: why nothing can be started now; `writing_problem`: why the service cannot
    write scenes."""

    models: tuple[ModelRow, ...]
    model: ClipModel | None
    menus: tuple[MenuField, ...]
    is_wizard: bool
    scene_count: int
    price: WritingPrice | None
    later: LaterCost | None
    notice: StartNotice | None
    disabled_reason: str
    writing_problem: str

    @property
    def label(self) -> str:
        if not self.is_wizard:
            return "Create storyboard"
        return f"Write {self.scene_count} scene{'' if self.scene_count == 1 else 's'}"

    @property
    def button_price(self) -> Decimal | None:
        return self.price.price if self.is_wizard and self.price else None

    @property
    def problem(self) -> str:
        return self.disabled_reason or (self.writing_problem if self.is_wizard else "")

    @property
    def button_note(self) -> str:
        return self.problem or (CONFIRM_NOTE if self.is_wizard else FREE_NOTE)

    @property
    def menus_version(self) -> str:
        """Return what the shown menus depend on: they are drawn anew only if it changes."""
        offered = [(menu.name, menu.style, menu.note, menu.changed_from) for menu in self.menus]
        choices = [(one.value, one.note) for menu in self.menus for one in menu.choices]
        slug = self.model.slug if self.model else ""
        return sha256(repr((slug, offered, choices)).encode()).hexdigest()[:16]


def build_start_page(
    reader: Membership,
    token: Token | None,
    models: tuple[ClipModel, ...],
    model: ClipModel | None,
    fitted: FittedSettings,
    *,
    mode: str,
    scene_count: int,
) -> StartPage:
    """`token` is the reader's, with its account; `model` and `fitted` what is chosen."""
    account = token.account if token else None
    price = build_writing_price(account, reader) if account else None
    notice = find_start_notice(token, models)
    is_usable = token is not None and not (notice and notice.add_token)
    shortfall = credit_shortfall_text(price.credit_check) if price else ""
    return StartPage(
        models=tuple(build_model_row(one, model.slug if model else "") for one in models),
        model=model,
        menus=build_format_fields(model, fitted) if model else (),
        is_wizard=mode != StoryboardMode.MANUAL,
        scene_count=scene_count,
        price=price,
        later=build_later_cost(account, model, fitted, scene_count) if account and model else None,
        notice=notice,
        disabled_reason="" if is_usable else "Add your token first. What you wrote stays here.",
        writing_problem=shortfall,
    )


def default_engine(reader: Membership, models: Sequence[ClipModel]) -> dict[str, str]:
    """Return the engine and resolution of the team's last storyboard; without one, those of the
    first engine that makes 720p or more. Empty without models. One query."""
    slugs = [model.slug for model in models]
    storyboards = Storyboard.objects.filter(tenant=reader.team.tenant_id, engine__in=slugs)
    last = storyboards.order_by("-created_at").first()
    if last is not None:
        return {"engine": last.engine, "resolution": last.resolution}
    for model in models:
        menu = model.menu("resolution")
        if high := next((one for one in menu.values if is_high(str(one))), "") if menu else "":
            return {"engine": model.slug, "resolution": str(high)}
    return {"engine": slugs[0]} if slugs else {}


def is_high(resolution: str) -> bool:
    """True for 720p or more, such as `768P`, `1080p` or `4K`."""
    lines, _ = leading_number(resolution)
    return lines >= HIGH_RESOLUTION_LINES or resolution.upper().endswith("K")


def find_start_notice(token: Token | None, models: tuple[ClipModel, ...]) -> StartNotice | None:
    if token is None:
        return StartNotice("paused", ADD_ONE_TITLE, ADD_ONE_TEXT, add_token=True)
    if token.state != TokenState.WORKING:
        return StartNotice("failed", STOPPED_TITLE, ADD_ONE_TEXT, add_token=True)
    if token.account.pause_reason:
        return StartNotice("paused", "Your token is paused.", token.account.pause_reason, True)
    return None if models else StartNotice("waiting", NO_MODELS)


def build_later_cost(
    account: Account, model: ClipModel, fitted: FittedSettings, scene_count: int
) -> LaterCost | None:
    """Return about what clips of the engine's shortest and longest duration cost; None if its
    prices or durations are not known. One query, for what clips cost before."""
    menu = model.menu("duration")
    lengths = [value for value in menu.values if isinstance(value, int)] if menu else []
    if not lengths:
        return None
    few = " or ".join(map(str, lengths)) if len(lengths) == 2 else ""
    length = f"{few} s" if few else lengths_text(model)
    if clip_price_form(account) == ClipPriceForm.FREE:
        return LaterCost(scene_count, length, FREE_CLIPS_NOTE, "")
    ends = dict.fromkeys((min(lengths), max(lengths)))
    about = [estimate_from_list(model, {**fitted.settings, "duration": one}) for one in ends]
    known = [one for one in about if one is not None]
    if len(known) < len(about):
        return None
    sums = [credits(one * scene_count) for one in known]
    options = [str(fitted.settings[name]) for name in ("resolution",) if fitted.settings.get(name)]
    joined = " or " if len(lengths) == 2 else " to "
    return LaterCost(
        scene_count=scene_count,
        lengths=length,
        note=f"{joined.join(map(credits, known))} cr each with {', '.join((model.name, *options))}",
        total=" to ".join(sums),
    )
