"""`make check`: the rules of this repository, a line each; the first broken one stops and explains.

docs/contributing.md lists what they ask for.
"""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tests.checks import (
    assumptions,
    citations,
    code_size,
    docstring_names,
    endpoint_table,
    forbidden_text,
    gateway_document,
    licences,
    lock_files,
    names,
    operation_literals,
    reached_operations,
    security_table,
)

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
MANAGE = (sys.executable, "manage.py")
TEMPLATES = sorted(str(path) for path in (ROOT / "templates").rglob("*.html"))
PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "dashboard.settings",
    "SECRET_KEY": os.urandom(40).hex(),
    "ENCRYPTION_KEYS": f"k1:{base64.b64encode(os.urandom(32)).decode()}",
    "BEHIND_TLS": "true",
    "VIDEO_API_BASE_URL": "https://video.example/v2",
    "ALLOWED_HOSTS": "reelroom.example",
    "PORTAL_URL": "https://reelroom.example",
    "REELROOM_VAR": "/nonexistent",
    "DATABASE_URL": "sqlite://:memory:",
}
Rule = tuple[str, Callable[[], str]]


def run_program(*command: str, **environment: str) -> Callable[[], str]:
    """A rule that a program checks: its output when it fails, nothing when it passes."""

    def checked() -> str:
        environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", **environment}
        done = subprocess.run(
            command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
        )
        return "" if done.returncode == 0 else (done.stdout + done.stderr).strip() or "failed"

    return checked


def run_own_check(check: Callable[[Path], Iterator[str]]) -> Callable[[], str]:
    return lambda: "\n".join(check(ROOT))


# The slow one comes first and runs beside the others.
RULES: list[Rule] = [
    (
        "types",
        run_program(str(BIN / "mypy"), "--no-error-summary", "dashboard", "proxyapi", "tests"),
    ),
    ("format", run_program(str(BIN / "ruff"), "format", "--check", "--output-format=concise", ".")),
    ("lint", run_program(str(BIN / "ruff"), "check", "--quiet", "--output-format=concise", ".")),
    (
        "template format",
        run_program(str(BIN / "djade"), "--target-version", "5.2", "--check", *TEMPLATES),
    ),
    ("template lint", run_program(str(BIN / "djlint"), "--lint", "--quiet", "templates")),
    ("imports", run_program(str(BIN / "lint-imports"), "--no-logo")),
    ("migrations", run_program(*MANAGE, "makemigrations", "--check", "--dry-run", **PRODUCTION)),
    (
        "production",
        run_program(*MANAGE, "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION),
    ),
    ("documents", run_program(*MANAGE, "write_docs", "--check", **PRODUCTION)),
    ("sandbox's table", run_program(sys.executable, "-m", "proxyapi.sandbox.document", "--check")),
    ("sandbox's endpoints", run_own_check(endpoint_table.find_endpoint_differences)),
    ("gateway's document", run_own_check(gateway_document.find_document_problems)),
    ("packages", run_program(str(BIN / "uv"), "pip", "check", "--python", sys.executable)),
    ("locks", run_own_check(lock_files.find_lock_problems)),
    ("licences", run_own_check(licences.find_licence_problems)),
    ("lengths of code", run_own_check(code_size.find_long_code)),
    ("unique class names", run_own_check(names.find_duplicate_classes)),
    ("bare participles", run_own_check(names.find_bare_participles)),
    ("old vocabulary", run_own_check(names.find_old_words)),
    ("citations", run_own_check(citations.find_wrong_citations)),
    ("names in docstrings", run_own_check(docstring_names.find_unknown_names)),
    ("operation names", run_own_check(operation_literals.find_operation_literals)),
    ("assumptions", run_own_check(assumptions.find_assumption_problems)),
    ("reached operations", run_own_check(reached_operations.find_reach_problems)),
    ("security table", run_own_check(security_table.find_security_table_problems)),
    ("secrets, local paths", run_own_check(forbidden_text.find_forbidden_text)),
]


def main() -> int:
    started = time.monotonic()
    with ThreadPoolExecutor(max_workers=2) as pool:
        running = [(name, pool.submit(rule)) for name, rule in RULES]
        for name, outcome in [*running[1:], running[0]]:
            if not report_outcome(name, outcome):
                pool.shutdown(wait=False, cancel_futures=True)
                return 1
    print(f"All {len(RULES)} rules hold ({time.monotonic() - started:.0f} s).")
    return 0


def report_outcome(name: str, outcome: Future[str]) -> bool:
    complaint = outcome.result()
    print(f"{'broken' if complaint else 'ok':<6}  {name}", flush=True)
    if complaint:
        print(f"\n{complaint}", file=sys.stderr)
    return not complaint


if __name__ == "__main__":
    sys.exit(main())
