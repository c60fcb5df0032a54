"""Dialogs: GET shows what is asked, POST does it.

htmx gets the dialog alone. Without JavaScript it is the page below it, with the dialog open on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.views import View
from django.views.decorators.debug import sensitive_post_parameters

from dashboard.models import Membership
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.price_question import ConfirmForm, PriceQuestion
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from proxyapi.refusals import Refusal


class DialogView(View):
    """A subclass says what differs. Its template extends `components/dialog.html`.

    `fetch` checks the permission and keeps the rows that the address names; it may return what to
    answer instead. `save` does what was asked and returns the message for the page, or "". A
    `Refusal` of it is an error of the form.
    """

    http_method_names: tuple[str, ...] = ("get", "head", "post")
    template_name: str
    page_template: str
    back: str  # URL or its name: the page below, to which a POST that succeeds leads
    form_class: type[PortalForm] = PortalForm
    refused_field: str | None = None  # the field of a refusal that names none
    undo_url = ""  # of what `save` did: its message has a button, so it stays until it is closed

    request: TeamRequest

    def dispatch(self, request: HttpRequest, *args: Any, **ids: Any) -> HttpResponseBase:
        is_allowed = (request.method or "").lower() in self.http_method_names
        answer = self.fetch(**ids) if is_allowed else None
        return answer or super().dispatch(request, *args, **ids)

    @property
    def by(self) -> Membership:
        return self.request.membership

    def fetch(self, *args: Any, **ids: Any) -> HttpResponse | None:
        raise NotImplementedError

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return self.form_class(data)

    def rebuild_form(self, form: Any) -> Any:
        """Return what was entered on top of the rows as they are now, for a form that has their
        version (`drawn`): sent again it applies."""
        return form

    def save(self, form: Any) -> str:
        raise NotImplementedError

    def load_dialog(self) -> Mapping[str, Any]:
        """Return what the template needs besides `form`."""
        return {}

    def load_page(self) -> Mapping[str, Any]:
        """Return the context of the page below; `form`, `back` and `dialog` are the dialog's."""
        raise NotImplementedError

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        return self.show(self.build_form())

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        form = self.build_form(request.POST)
        if form.is_valid():
            try:
                message = self.save(form)
            except Refusal as refusal:
                form = self.rebuild_form(form)
                field = refusal.field if refusal.field in form.fields else self.refused_field
                form.add_error(field, refusal.sentence)
            else:
                if message:
                    level = messages.INFO if self.undo_url else messages.SUCCESS
                    messages.add_message(request, level, message, extra_tags=self.undo_url)
                return self.answer_saved()
        return self.show(form)

    def answer_saved(self) -> HttpResponse:
        return redirect_to(self.request, self.back)

    def show(self, form: PortalForm) -> HttpResponse:
        context = {"form": form, "back": resolve_url(self.back), **self.load_dialog()}
        if self.request.htmx:
            context["fragment"] = True
            return render(self.request, self.template_name, context)  # htmx swaps no other status
        context = {**self.load_page(), **context, "dialog": self.template_name}
        status = 422 if form.errors else 200
        return render(self.request, self.page_template, context, status=status)


class ConfirmedDialog(DialogView):
    """A dialog in which people confirm that it is them, unless they did so recently.

    `secret_fields`: their values are left out of error reports.
    """

    secret_fields: tuple[str, ...] = ("password",)

    def dispatch(self, request: HttpRequest, *args: Any, **ids: Any) -> HttpResponseBase:
        hide = sensitive_post_parameters(*self.secret_fields)
        return hide(super().dispatch)(request, *args, **ids)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return RecentAuthenticationForm(self.request, data)


class ChargeDialog(DialogView):
    """The price question of a charge: POST charges, once for each form that was shown.

    `charge` does so and may return a message for the page. A `Refusal` of it is shown in the
    question, which is built from the rows as they are then: `fetch` is called again.
    """

    template_name = "components/price_question.html"
    form_class = ConfirmForm

    def charge(self, **confirmed: Any) -> str | None:
        """`confirmed` is `nonce`, `seen` (the price that was shown, in credits) and `answer`."""
        raise NotImplementedError

    def build_question(self) -> PriceQuestion:
        raise NotImplementedError

    def save(self, form: Any) -> str:
        return self.charge(**form.charge_arguments()) or ""

    def rebuild_form(self, form: Any) -> Any:
        self.fetch(**self.kwargs)
        return form

    def show(self, form: Any) -> HttpResponse:
        self.question = replace(
            self.build_question(),
            refusal=form.first_error(),
            idempotency_key=form.idempotency_key,
        )
        return super().show(form)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"question": self.question}
