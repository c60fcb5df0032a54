"""Pages of the API keys: the list, and the dialogs that create, change, rotate and revoke one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.api_keys import actions, pages
from dashboard.api_keys.forms import (
    GRACES,
    EditKeyForm,
    KeyLimitsForm,
    LowerLimitsForm,
    NewKeyForm,
    RevokeKeyForm,
    RotateKeyForm,
    load_usable_tokens,
)
from dashboard.shared.access import KeyRight, fetch_api_key, key_rights, require_visible
from dashboard.shared.dialogs import ConfirmedDialog, DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.lists import render_list
from dashboard.shared.roles import Permission
from proxyapi.gateway.keys import NewKey
from proxyapi.models import ApiKey
from proxyapi.refusals import Refusal

PAGE_TEMPLATE = "api_keys/page.html"


@require_safe
@vary_on_headers("HX-Request")
def api_keys(request: TeamRequest) -> HttpResponse:
    """The list; for htmx its table and filters alone."""
    context = pages.load_keys_page(request.membership, request.GET)
    return render_list(request, PAGE_TEMPLATE, "api_keys/_table.html", context)


class KeyDialog(DialogView):
    page_template, back = PAGE_TEMPLATE, "api-keys"
    rights: tuple[KeyRight, ...]

    def fetch(self, key_id: UUID) -> None:
        self.key = fetch_api_key(self.request, key_id, *self.rights)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"key": self.key}

    def load_page(self) -> Mapping[str, Any]:
        return pages.load_keys_page(self.by, {})


class ShownOnce(ConfirmedDialog):
    """A dialog that gives a key a new value, which its answer alone contains."""

    new: NewKey

    @method_decorator(sensitive_variables("context"))
    def answer_saved(self) -> HttpResponse:
        context = {
            **pages.load_keys_page(self.request.membership, {}),
            "new": self.new,
            "back": reverse("api-keys"),
            "dialog": "api_keys/_value.html",
        }
        return render(self.request, PAGE_TEMPLATE, context)  # no answer is stored by a browser


class CreateKey(ShownOnce):
    template_name, page_template, back = "api_keys/_new.html", PAGE_TEMPLATE, "api-keys"

    def fetch(self) -> None:
        require_visible(self.by, Permission.RENDER)
        self.tokens = load_usable_tokens(self.by, self.by.user_id)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return NewKeyForm(self.request, self.tokens, data)

    def save(self, form: NewKeyForm) -> str:
        self.new = actions.create_api_key(by=self.by, **form.values())
        return ""

    def load_dialog(self) -> Mapping[str, Any]:
        return {"has_token": bool(self.tokens)}

    def load_page(self) -> Mapping[str, Any]:
        return pages.load_keys_page(self.by, {})


class EditKey(KeyDialog):
    """All settings for its member; for who manages money its limits alone."""

    template_name = "api_keys/_edit.html"
    rights = (KeyRight.EDIT, KeyRight.LIMIT)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        if KeyRight.EDIT not in key_rights(self.by, self.key):
            return LowerLimitsForm(self.key, data)
        return EditKeyForm(self.key, load_usable_tokens(self.by, self.key.owner_id), data)

    def rebuild_form(self, form: KeyLimitsForm) -> PortalForm:
        self.key.refresh_from_db()
        return form.with_current_version(self.key)

    def save(self, form: Any) -> str:
        drawn = form.cleaned_data["drawn"]
        values = form.values()
        changed = actions.update_api_key(by=self.by, key=self.key, values=values, drawn=drawn)
        return f"{values.get('name', self.key.name)} is saved." if changed else ""

    def load_dialog(self) -> Mapping[str, Any]:
        return {"key": self.key, "is_mine": self.key.owner_id == self.by.user_id}


class RotateKey(KeyDialog, ShownOnce):
    template_name, rights = "api_keys/_rotation.html", (KeyRight.EDIT,)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return RotateKeyForm(self.request, self.key, data)

    def save(self, form: PortalForm) -> str:
        cleaned = form.cleaned_data
        _, grace = GRACES[cleaned["grace"]]
        self.new = actions.rotate_api_key(
            by=self.by, key=self.key, grace=grace, last_four=cleaned["last_four"]
        )
        return ""


class RevokeKey(KeyDialog, ConfirmedDialog):
    template_name, rights = "api_keys/_revocation.html", (KeyRight.REVOKE,)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return RevokeKeyForm(self.request, data)

    def save(self, form: PortalForm) -> str:
        actions.revoke_api_key(by=self.by, key=self.key, reason=form.cleaned_data["reason"])
        return f"{self.key.name} is revoked. It is refused from now on."

    def load_dialog(self) -> Mapping[str, Any]:
        return pages.load_revocation(self.by, self.key)


@require_POST
def pause(request: TeamRequest, key_id: UUID) -> HttpResponse:
    """Of a key or an agent, as the next one."""

    def save(key: ApiKey) -> str:
        return pages.paused_text(key, actions.pause_key(by=request.membership, key=key))

    return change_pause(request, key_id, save, "api-key-resumptions")


@require_POST
def resume(request: TeamRequest, key_id: UUID) -> HttpResponse:
    def save(key: ApiKey) -> str:
        actions.resume_key(by=request.membership, key=key)
        return f"{key.name} works again."

    return change_pause(request, key_id, save, "api-key-pauses")


def change_pause(
    request: TeamRequest, key_id: UUID, save: Callable[[ApiKey], str], undo: str
) -> HttpResponse:
    key = fetch_api_key(request, key_id, KeyRight.PAUSE, agents=None)
    try:
        text = save(key)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.info(request, text, extra_tags=reverse(undo, args=[key.pk]))
    return redirect("agents" if key.client_id else "api-keys")
