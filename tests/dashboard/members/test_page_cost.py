"""The members page costs what other pages cost, though its form offers 500 time zones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.template import Context, Template
from django.test import Client

from dashboard.members.forms import team
from dashboard.models import Membership


def test_five_hundred_time_zones_cost_no_templates_and_no_files(
    mira: Membership,
    client_of: Callable[[Membership], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rendered: list[str | None] = []
    render = Template._render  # type: ignore[attr-defined]

    def count(template: Template, context: Context) -> str:
        rendered.append(template.name)
        return render(template, context)

    browser = client_of(mira)
    browser.get("/members/")
    monkeypatch.setattr(Template, "_render", count)
    monkeypatch.setattr(team, "available_timezones", lambda: pytest.fail("600 files were opened"))
    html = browser.get("/members/").content.decode()
    assert html.count("<option") > 400
    assert 'value="UTC"' in html
    assert '<option value="America/New York"></option>' in html
    assert len(rendered) < 150
