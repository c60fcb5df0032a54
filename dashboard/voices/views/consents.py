"""The withdrawal of a consent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.urls import reverse

from dashboard.shared.access import fetch_voice
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.roles import Permission
from dashboard.voices import actions
from dashboard.voices.queries.voice_page import load_voice_page


class WithdrawConsent(DialogView):
    template_name, page_template = "voices/_withdraw.html", "voices/page.html"

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_voice(self.request, job_id, Permission.RENDER)
        self.back = reverse("voice", args=[job_id])

    def save(self, form: PortalForm) -> str:
        actions.withdraw_consent(by=self.by, job=self.job)
        return ""

    def load_dialog(self) -> Mapping[str, Any]:
        return {"job": self.job}

    def load_page(self) -> Mapping[str, Any]:
        return {"page": load_voice_page(self.job, self.by)}
