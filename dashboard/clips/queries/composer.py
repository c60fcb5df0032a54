"""The composer: what a clip is made with, for a draft or for one that is not saved yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from dashboard.clips.queries.slots import SlotField, build_slot_field
from dashboard.clips.readiness import MODEL_GONE, SENT_CHARGE
from dashboard.models import Membership
from dashboard.shared.clip_menus import MenuField, ModelRow, build_menu_fields, build_model_row
from dashboard.shared.clip_models import (
    ClipModel,
    FittedSettings,
    account_clip_models,
    find_clip_model,
    fit_settings,
)
from dashboard.shared.member_token import load_own_token
from proxyapi.kinds import MAX_PROMPT_WORDS, MIN_PROMPT_WORDS
from proxyapi.models import Account, Job, JobKind, Token, TokenState
from proxyapi.models.duration_class import count_words

ADD_ONE_TITLE = "Add your API token to make clips."
OWN_ACCOUNT_NOTE = (
    "A clip is made with your own token. It is checked, encrypted and never shown again."
)
STOPPED_TITLE = "Your token stopped working. What you compose is kept. Add a new token."
NO_MODELS = "The models of your plan are being read. They appear here by themselves."


@dataclass(frozen=True, slots=True)
class ComposerNotice:
    """A banner; `add_token`: the reader can solve it by adding a token."""

    state: str
    title: str
    text: str = ""
    add_token: bool = False


@dataclass(frozen=True, slots=True)
class Composer:
    """`job` is None until the first change is saved under `draft_id`. `source_id`: the clip that a
    new draft takes its references from."""

    draft_id: UUID
    job: Job | None
    source_id: UUID | None
    edited_at: str
    prompt: str
    settings: Mapping[str, Any]
    models: tuple[ModelRow, ...]
    model: ClipModel | None
    menus: tuple[MenuField, ...]
    slots: tuple[SlotField, ...]
    notice: ComposerNotice | None
    account: Account | None

    @property
    def word_count(self) -> int:
        return count_words(self.prompt)

    @property
    def max_words(self) -> int:
        return MAX_PROMPT_WORDS

    @property
    def min_words(self) -> int:
        return MIN_PROMPT_WORDS

    @property
    def is_outdated(self) -> bool:
        """True if the draft has values that its model does not offer any more: the page saves the
        nearest ones, which it shows."""
        return self.job is not None and any(menu.changed_from for menu in self.menus)

    @property
    def menus_version(self) -> str:
        """Return what the shown menus and references depend on."""
        offered = [(menu.name, menu.style, menu.note, menu.changed_from) for menu in self.menus]
        choices = [(one.value, one.note) for menu in self.menus for one in menu.choices]
        filled = [(slot.slot.name, slot.origin) for slot in self.slots]
        slug = self.model.slug if self.model else ""
        return sha256(repr((slug, offered, choices, filled)).encode()).hexdigest()[:16]


def load_last_clip(reader: Membership) -> Job | None:
    """Return the reader's clip or draft that was edited last, as `is_composable` reads it; one
    query."""
    jobs = Job.objects.visible().filter(
        tenant=reader.team.tenant_id, member=reader.user_id, kind=JobKind.CLIP
    )
    related = jobs.filter(draft__isnull=False).select_related("account", "token", "draft", "member")
    return related.annotate(is_sent=SENT_CHARGE).order_by("-draft__edited_at").first()


def build_composer(
    reader: Membership,
    draft_id: UUID,
    job: Job | None,
    source: Job | None = None,
    *,
    keep_prompt: bool = False,
    fitted: FittedSettings | None = None,
    file_errors: Mapping[str, str] | None = None,
) -> Composer:
    """`source` is the clip that a new draft starts as, with its prompt if `keep_prompt`. `fitted`
    are the options as a form was read, with the values that its model does not offer."""
    origin = job or source
    kept = dict(origin.draft.settings) if origin and origin.draft_or_none else {}
    token = job.token if job else load_own_token(reader)
    account = token.account if token else None
    models = account_clip_models(account) if account else ()
    model = find_clip_model(models, kept.get("model"))
    if job is None and model is None and models:
        model = models[0]
    if model is not None and fitted is None:
        fitted = fit_settings(model, kept)
    if job is None and not keep_prompt:
        kept = {**(fitted.settings if fitted else {})}
    elif job is None and fitted is not None:
        kept |= fitted.settings
    holder_id = origin.pk if origin else draft_id
    errors = file_errors or {}
    slots = model.slots if model else ()
    return Composer(
        draft_id=draft_id,
        job=job,
        source_id=source.pk if source and keep_prompt else None,
        edited_at=job.draft.edited_at.isoformat() if job else "",
        prompt=str(kept.get("prompt") or ""),
        settings=kept,
        models=tuple(build_model_row(one, model.slug if model else "") for one in models),
        model=model,
        menus=build_menu_fields(model, fitted) if model and fitted else (),
        slots=tuple(
            build_slot_field(slot, holder_id, kept, errors.get(slot.name, "")) for slot in slots
        ),
        notice=find_notice(token, models, model),
        account=account,
    )


def find_notice(
    token: Token | None, models: tuple[ClipModel, ...], model: ClipModel | None
) -> ComposerNotice | None:
    if token is None:
        return ComposerNotice("paused", ADD_ONE_TITLE, OWN_ACCOUNT_NOTE, add_token=True)
    if token.state in (TokenState.REVOKED, TokenState.REMOVED):
        return ComposerNotice("failed", STOPPED_TITLE, add_token=True)
    if token.account.pause_reason:
        return ComposerNotice("paused", "Your token is paused.", token.account.pause_reason)
    if not models:
        return ComposerNotice("waiting", NO_MODELS)
    return None if model else ComposerNotice("late", MODEL_GONE)
