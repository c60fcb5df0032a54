"""An alert kind is a value of the enum and a module: what follows from the two agrees."""

from __future__ import annotations

import pkgutil
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.forms import ChoiceField

from dashboard.alerts import kinds
from dashboard.alerts.forms import AlertRulesForm, NewAlertRuleForm
from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertKind, AlertRule

WITH_THRESHOLD = [kind for kind, spec in ALERT_KINDS.items() if spec.threshold]


def test_each_value_has_one_module_and_each_module_one_value():
    assert list(ALERT_KINDS) == list(AlertKind)
    assert all(spec.kind == kind for kind, spec in ALERT_KINDS.items())
    assert len(list(pkgutil.iter_modules(kinds.__path__))) == len(AlertKind)


@pytest.mark.parametrize("kind", AlertKind)
def test_the_rules_a_team_begins_with_are_ones_that_it_could_make(kind):
    spec = ALERT_KINDS[kind]
    assert spec.default_thresholds
    if spec.threshold is None:
        assert spec.default_thresholds == (0,)
    else:
        least, most, _unit = spec.threshold
        assert all(least <= one <= most for one in spec.default_thresholds)


def test_the_form_for_a_new_rule_offers_the_kinds_that_have_a_threshold():
    field = NewAlertRuleForm().fields["kind"]
    assert isinstance(field, ChoiceField)
    choices = [(str(kind), str(label)) for kind, label in field.widget.choices]
    assert [kind for kind, _label in choices] == WITH_THRESHOLD
    assert len({label for _kind, label in choices}) == len(WITH_THRESHOLD)


@pytest.mark.parametrize("kind", WITH_THRESHOLD)
def test_a_threshold_outside_the_range_of_its_kind_is_refused_in_both_forms(kind):
    limits = ALERT_KINDS[kind].threshold
    assert limits
    too_high = limits.maximum + 1
    new = NewAlertRuleForm({"kind": kind, "threshold": str(too_high)})
    rule = AlertRule(kind=kind, threshold=Decimal(too_high))
    edited = AlertRulesForm([rule], {f"threshold-{rule.pk}": str(too_high), f"drawn-{rule.pk}": ""})
    assert "threshold" in new.errors
    assert f"threshold-{rule.pk}" in edited.errors


def test_every_kind_has_its_line_in_the_table_of_rules():
    rules = [AlertRule(kind=kind, threshold=Decimal(0)) for kind in AlertKind]
    sentences = [row.sentence for row in AlertRulesForm(rules).rows()]
    assert sentences == [ALERT_KINDS[kind].sentence for kind in AlertKind]
    assert len(set(sentences)) == len(sentences)


def test_the_documentation_names_every_webhook_type():
    page = (Path(settings.BASE_DIR) / "docs/reference/alerts.md").read_text(encoding="utf-8")
    assert all(f"| `{spec.webhook_type}` |" in page for spec in ALERT_KINDS.values())
    assert page.count("| `alert.") == len(AlertKind)
