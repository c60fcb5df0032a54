"""docs/operations/: the dashboard, the alert rules and the page name what /metrics has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
import yaml

from dashboard.monitoring.metrics import GAUGES, collect_samples
from dashboard.up.install import ROOT

FOLDER = ROOT / "docs/operations"
SELECTOR = re.compile(r"\b(reelroom_\w+)(?:\{([^}]*)\})?")
FUNCTIONS = {"absent", "and", "bool", "by", "max", "min", "or", "up", "job"}


def panel_queries() -> Iterator[str]:
    for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def alert_rules() -> list[dict[str, object]]:
    groups = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_the_page_lists_every_gauge() -> None:
    page = (FOLDER / "README.md").read_text()
    rows = [f"| `{name}` | {gauge.label} | {gauge.text} |" for name, gauge in GAUGES.items()]
    assert page.endswith("\n".join(["|---|---|---|", *rows]) + "\n")


def test_the_dashboard_shows_every_gauge() -> None:
    shown = {name for query in panel_queries() for name, _ in SELECTOR.findall(query)}
    assert shown == set(GAUGES)


@pytest.mark.django_db
def test_queries_name_gauges_and_labels_that_exist() -> None:
    values: dict[str, set[str]] = {}
    for name, label, _ in collect_samples():
        values.setdefault(name, set()).add(str(label))
    queries = [*panel_queries(), *(str(rule["expr"]) for rule in alert_rules())]
    assert len(queries) > 30
    for query in queries:
        for name, selector in SELECTOR.findall(query):
            assert name in GAUGES, query
            for label, value in re.findall(r'(\w+)="([^"]*)"', selector):
                assert label == GAUGES[name].label, query
                assert value in values[name], query
        for label, name in re.findall(r"by \((\w+)\) \((\w+)", query):
            assert GAUGES[name].label == label, query
        words = set(re.findall(r"[a-z_]+", re.sub(r"\{[^}]*\}|by \(\w+\)", "", query)))
        assert words - set(GAUGES) <= FUNCTIONS, query
        assert query.count("(") == query.count(")"), query


def test_each_alert_says_what_is_wrong_and_how_urgent_it_is() -> None:
    rules = alert_rules()
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[mh]", str(rule["for"]))
        assert rule["labels"] in ({"severity": "page"}, {"severity": "ticket"})
        text = rule["annotations"]["summary"]  # type: ignore[index]
        assert text.endswith(".")
        assert set(re.findall(r"\$labels\.(\w+)", text)) <= {"check", "queue"}
