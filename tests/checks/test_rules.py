"""Each rule of `make check` catches a breach."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.checks import (
    assumptions,
    code_size,
    endpoint_table,
    forbidden_text,
    licences,
    lock_files,
    operation_literals,
    reached_operations,
    security_table,
)
from tests.checks.assumption_table import Assumption

ROOT = Path(__file__).resolve().parents[2]
VIEW, TASKS, MODEL = (
    Path("dashboard/studio/views.py"),
    Path("proxyapi/tasks.py"),
    Path("proxyapi/models/job.py"),
)


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        (VIEW, 40),
        (TASKS, 15),
        (MODEL, 35),
        (Path("proxyapi/credentials/encryption.py"), 50),
        (Path("tests/test_x.py"), 40),
    ],
)
def test_a_function_has_the_lines_of_its_kind_and_not_one_more(path, limit):
    fits = "def test_it():\n" + "    pass\n" * (limit - 1)

    assert list(code_size.find_long_python(path, fits)) == []
    assert list(code_size.find_long_python(path, fits + "    pass\n"))


def test_a_file_has_four_hundred_lines_and_not_one_more():
    assert list(code_size.find_long_python(VIEW, "x = 1\n" * 400)) == []
    assert list(code_size.find_long_python(VIEW, "x = 1\n" * 401))


def test_a_template_that_is_too_long_is_found(tmp_path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text("<p>\n" * 101)

    assert list(
        code_size.find_long_files(tmp_path, "templates", "*.html", code_size.MAX_TEMPLATE_LINES)
    )


@pytest.mark.parametrize(
    ("file", "limit"), [("templates/area/page.html", 140), ("static/css/page.css", 120)]
)
def test_a_line_of_a_template_or_style_sheet_has_its_characters_and_not_one_more(
    tmp_path, file, limit
):
    path = tmp_path / file
    path.parent.mkdir(parents=True)

    path.write_text("short\n" + "é" * limit + "\n", encoding="utf-8")
    assert list(code_size.find_long_code(tmp_path)) == []

    path.write_text("short\n" + "é" * (limit + 1) + "\n", encoding="utf-8")
    assert list(code_size.find_long_code(tmp_path)) == [
        f"{file}:2: {limit + 1} characters, at most {limit}"
    ]


LOCKED = "amqp==5.4.2 \\\n    --hash=sha256:00\ncelery==5.7.0 \\\n    --hash=sha256:00\n"


@pytest.mark.parametrize(
    ("requirement", "text", "complaints"),
    [
        ("celery>=5.7,<5.8", LOCKED, 0),
        ("celery>=5.8", LOCKED, 1),
        ("django>=5.2", LOCKED, 1),
        ("celery", LOCKED + "--index-url https://index.example\n", 1),
        ("celery", "celery==5.7.0\n", 1),
        ("Celery[redis]>=5", LOCKED, 0),
    ],
)
def test_the_lock_holds_what_is_asked_for_with_hashes_and_without_addresses(
    requirement, text, complaints
):
    assert len(list(lock_files.lock_differences([requirement], "x.lock", text))) == complaints


@pytest.mark.parametrize(
    ("larger", "complaints"),
    [
        (LOCKED + "pytest==9.2 \\\n    --hash=sha256:00\n", 0),
        (LOCKED.replace("celery==5.7.0", "celery==5.7.1"), 1),
        (LOCKED.replace("amqp==5.4.2", "kombu==5.7.0"), 1),
        (LOCKED + "celery==5.6.9 ; python_version < '3.12' \\\n    --hash=sha256:00\n", 1),
    ],
)
def test_the_larger_lock_pins_what_the_smaller_one_pins_in_the_same_version(larger, complaints):
    assert (
        len(list(lock_files.version_conflicts("run.lock", LOCKED, "dev.lock", larger)))
        == complaints
    )


def test_a_lock_that_is_out_of_date_is_reported_with_the_command_that_writes_all(tmp_path):
    for name in ("pyproject.toml", *(one.file for one in lock_files.LOCKS)):
        (tmp_path / name).write_text((ROOT / name).read_text())
    assert list(lock_files.find_lock_problems(tmp_path)) == []

    media = tmp_path / "requirements-media.lock"
    media.write_text(media.read_text().replace("\npillow==", "\nwillow=="))

    *_, last = told = list(lock_files.find_lock_problems(tmp_path))
    assert any("pillow" in one for one in told)
    assert last.endswith(lock_files.COMMAND)


@pytest.mark.parametrize(
    ("licence", "complaints"),
    [
        ("MIT", 0),
        ("LGPL-3.0-only", 0),
        ("GNU Lesser General Public License v3 (LGPLv3)", 0),
        ("Apache-2.0 OR GPL-2.0-only", 0),
        ("", 1),
        ("GPL-3.0-or-later", 1),
        ("GNU General Public License v3 (GPLv3)", 1),
        ("GNU Affero General Public License v3", 1),
        ("BSD-3-Clause; holds x264 and x265: GPL-2.0-or-later", 1),
    ],
)
def test_a_package_of_the_product_is_not_under_the_gpl(licence, complaints):
    assert len(list(licences.licence_complaints({"package": licence}))) == complaints


def test_the_page_of_licences_follows_the_locks(tmp_path):
    (tmp_path / licences.LICENCES_PAGE).parent.mkdir(parents=True)
    for name in (licences.LICENCES_PAGE, *(one.file for one in lock_files.LOCKS)):
        (tmp_path / name).write_text((ROOT / name).read_text())
    assert list(licences.find_licence_problems(tmp_path)) == []

    with (tmp_path / licences.PRODUCT).open("a") as product:
        product.write("unheard-of==1.0\n")
    assert len(list(licences.find_licence_problems(tmp_path))) == 2, (
        "an unknown licence, and the page is not so"
    )


def test_a_row_of_reached_operations_names_a_test_that_exists(tmp_path, monkeypatch):
    wrong = reached_operations.ReachedOperation("Tokens", "test_first_video.py::test_gone")
    monkeypatch.setattr(
        reached_operations, "REACHED_OPERATIONS", {"me.get": wrong, "me.gone": wrong}
    )
    missing, unknown, *_, page = reached_operations.find_reach_problems(ROOT)
    assert "test_gone, which does not exist" in missing
    assert "there is no operation me.gone" in unknown
    assert page.startswith(reached_operations.REACHED_PAGE)


def test_an_assumption_names_settings_and_a_test_that_exist_and_no_setting_is_left_out(monkeypatch):
    wrong = Assumption("Words.", "Any.", "test_polling.py::test_gone", ("mood",))
    monkeypatch.setattr(assumptions, "AREAS", {"Words": [wrong]})
    monkeypatch.setattr(assumptions, "NO_ASSUMPTION", {})
    test, *settings, unknown, page = assumptions.find_assumption_problems(ROOT)
    assert "tests/proxyapi/test_polling.py::test_gone does not exist" in test
    assert any("setting draft_status has no row and no reason" in one for one in settings)
    assert "no setting mood" in unknown
    assert page.startswith(assumptions.ASSUMPTIONS_PAGE)


def test_a_typed_shortcut_counts_by_its_generic_twin():
    assert reached_operations.generic_twin("b_roll.render") == "faceless.render"
    assert reached_operations.generic_twin("ai_visuals.regenerate") == "ai_visuals.regenerate"


@pytest.mark.parametrize(
    "text",
    [
        "token = 'sbx" + "_4f9aQ7dLk2PzXw81Ys0bN3'",
        "ENCRYPTION_KEYS=k1" + ":q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=",
        "-----BEGIN" + " PRIVATE KEY-----",
        "https://py" + "pi.org/simple",
        "/ro" + "ot/.cache",
    ],
)
def test_secrets_and_machines_are_found(text):
    assert list(forbidden_text.forbidden_matches(text))


def test_a_token_that_says_that_it_opens_nothing_may_stand_there():
    assert list(forbidden_text.forbidden_matches("sbx" + "_canary4f9aQ7dLk2PzXw81Ys0b")) == []


def test_an_endpoint_that_is_missing_or_made_up_is_found():
    page = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()

    assert list(endpoint_table.compare_endpoint_table(page)) == []
    assert list(
        endpoint_table.compare_endpoint_table(page.replace("| GET `/me` |", "| GET `/you` |"))
    ) == [
        "docs/sandbox.md: GET /me is missing",
        "docs/sandbox.md: GET /you is not in the specification",
    ]


def test_the_name_of_an_operation_is_found_outside_its_table(tmp_path):
    shutil.copytree(ROOT / "proxyapi/operations", tmp_path / "proxyapi/operations")
    names = operation_literals.operation_names(tmp_path)
    page = tmp_path / "dashboard/page.py"
    page.parent.mkdir()
    page.write_text('SENT = ("me.get", "me.got", "text_to_video.create")')

    hits = operation_literals.literals_below(tmp_path, tmp_path / "dashboard", names)
    assert list(hits) == [
        "dashboard/page.py:1: me.get",
        "dashboard/page.py:1: text_to_video.create",
    ]
    assert list(operation_literals.literals_below(tmp_path, tmp_path / "proxyapi", names)) == []
    page.write_text('SENT = ["me.get"] * 3\n' + '("me.get")\n' * operation_literals.MAX_LITERALS)
    assert len(list(operation_literals.find_operation_literals(tmp_path))) > 2


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ("met by `test_it_holds`", ""),
        ("met by `make check`: “lint” (no eval)", ""),
        ("not applicable: not used", ""),
        ("open: the proxy decides", ""),
        ("met by `test_gone`", "1: 1.2.3 names the test test_gone, which does not exist"),
        ("met by `make check`: “hope”", "1: 1.2.3 names “hope”, which make check does not have"),
        ("met by care", "1: 1.2.3 is met by nothing that is run"),
    ],
)
def test_a_requirement_names_only_tests_and_rules_that_exist(state, problem):
    table = f"| 1.2.3 | it holds | {state} |"
    found = list(security_table.table_problems(table, {"test_it_holds"}, {"lint"}))
    assert found == ([problem] if problem else [])


def test_a_requirement_has_one_row_and_one_of_three_states():
    row = "| 1.2.3, 1.2.5–1.2.7 | it holds | perhaps |"
    found = list(security_table.table_problems(f"{row}\n{row}", set(), set()))
    assert len(found) == 3
    assert "has two rows" in found[1]
