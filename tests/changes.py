"""`TEST_ONLY=changed`: the files of tests that the changes since `main` reach.

A changed module reaches whatever imports it, at any distance (import-linter's graph). Of each
reached module the tests that import it are run, and those that stand at its place below `tests/`:
nobody imports views and urls. Templates, scripts and style sheets belong to the area whose name
they have. The matrix of routes and roles always runs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import grimp

ROUTE_MATRIX = {
    "tests/dashboard/shared/test_access.py",
    "tests/dashboard/shared/test_access_matrix.py",
}
AREA_FOLDERS = ("templates", "static/js", "static/css")
# Whatever changes there may change every test.
REACHES_ALL = ("dashboard/settings.py", "pyproject.toml", "requirements", "tests/conftest.py")
GRAPH_CACHE = ".import_linter_cache"


def find_reached_tests(root: Path, changed: Iterable[str] | None = None) -> list[str]:
    """Paths of test files relative to `root`; `changed` is what git says if it is not given."""
    changed = set(find_changed_files(root) if changed is None else changed)
    if any(path.startswith(REACHES_ALL) for path in changed):
        return ["tests"]
    graph = grimp.build_graph("dashboard", "proxyapi", "tests", cache_dir=str(root / GRAPH_CACHE))
    reached = {module for path in changed for module in modules_of(path) if module in graph.modules}
    for module in set(reached):
        reached |= graph.find_downstream_modules(module)
    found = {path for path in changed if (root / path).is_file()}
    found |= {f"{module.replace('.', '/')}.py" for module in reached}
    folders = {f"tests/{'/'.join(module.split('.')[:-1])}" for module in reached}
    folders |= {str(Path(path).parent) for path in found if path.endswith("/conftest.py")}
    for folder in folders:
        found |= {str(path.relative_to(root)) for path in (root / folder).glob("test_*.py")}
    return sorted({path for path in found if is_test(path)} | ROUTE_MATRIX)


def find_changed_files(root: Path) -> Iterable[str]:
    """What differs from the newest common commit with `main`, uncommitted and new files too."""
    base = run_git(root, "merge-base", "main", "HEAD")[0]
    new = run_git(root, "ls-files", "--others", "--exclude-standard")
    return [*run_git(root, "diff", "--name-only", base), *new]


def run_git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def modules_of(path: str) -> Iterator[str]:
    if path.endswith(".py"):
        yield path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for folder in AREA_FOLDERS:
        if path.startswith(f"{folder}/"):
            area = path.removeprefix(f"{folder}/").partition("/")[0]
            yield from (f"dashboard.{area}.views", f"dashboard.{area}.urls")


def is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")
