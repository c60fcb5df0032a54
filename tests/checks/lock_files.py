"""Three lock files say what pyproject.toml asks for, with hashes and without addresses.

`project_requirements.lock` is what the product needs, `requirements-media.lock` adds the extra
`media`, `requirements-dev.lock` adds the tools for developing. Each holds all of the one before it,
in the same versions. After a change of the dependencies, this command writes them anew (it needs
the package index; versions that still fit stay; `--upgrade` takes the newest):

    .venv/bin/python -m tests.checks.lock_files
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

COMMAND = ".venv/bin/python -m tests.checks.lock_files"
UV = (str(Path(sys.executable).parent / "uv"), "pip", "compile", "pyproject.toml", "--quiet")
FORMAT = (
    *("--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-header", "--no-annotate"),
)
PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9_.\-]+)==(?P<version>[^\s;]+)(?P<rest>.*?)(?=^\S|\Z)", re.M | re.S
)


class LockFile(NamedTuple):
    file: str
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


# From the smallest to the largest.
LOCKS = (
    LockFile("requirements.lock"),
    LockFile("requirements-media.lock", extras=("media",)),
    LockFile("requirements-dev.lock", extras=("media",), groups=("dev",)),
)


def find_lock_problems(root: Path) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    texts = {lock.file: (root / lock.file).read_text() for lock in LOCKS}
    complaints = [
        complaint
        for lock in LOCKS
        for complaint in lock_differences(
            project_requirements(project, lock), lock.file, texts[lock.file]
        )
    ]
    for smaller, larger in pairwise(texts):
        complaints += version_conflicts(smaller, texts[smaller], larger, texts[larger])
    yield from complaints
    if complaints:
        yield f"Write the locks anew: {COMMAND}"


def project_requirements(project: dict[str, Any], lock: LockFile) -> list[str]:
    """What pyproject.toml asks for in this lock."""
    metadata = project["project"]
    lists = [metadata["dependencies"]]
    lists += [metadata["optional-dependencies"][extra] for extra in lock.extras]
    lists += [project["dependency-groups"][group] for group in lock.groups]
    return [text for one in lists for text in one]


def lock_differences(requirements: list[str], file: str, lock: str) -> Iterator[str]:
    if "://" in lock:
        yield f"{file} holds an address: it may name no index and no file"
    for pin in PIN.finditer(lock):
        if "--hash=sha256:" not in pin["rest"]:
            yield f"{file}: {pin['name']} has no hash"
    pins = locked_versions(lock)
    for text in requirements:
        requirement = Requirement(text)
        found = pins.get(canonicalize_name(requirement.name), set())
        if not any(requirement.specifier.contains(version) for version in found):
            yield f"{file}: {text} is not in it (found: {', '.join(sorted(found)) or 'nothing'})"


def version_conflicts(smaller: str, text: str, larger: str, whole: str) -> Iterator[str]:
    """What the larger lock does not pin exactly as the smaller one does."""
    all_pins = locked_versions(whole)
    for name, pinned in locked_versions(text).items():
        if all_pins.get(name) != pinned:
            yield f"{larger}: {name} is not as in {smaller} ({', '.join(sorted(pinned))})"


def locked_versions(lock: str) -> dict[str, set[str]]:
    """By name; there are several where another Python gets another version."""
    found: dict[str, set[str]] = defaultdict(set)
    for pin in PIN.finditer(lock):
        found[canonicalize_name(pin["name"])].add(pin["version"])
    return found


def write_locks(root: Path, *options: str) -> None:
    """Compile each lock under the versions of the one before it."""
    fixed: tuple[str, ...] = ()
    for lock in LOCKS:
        chosen = [f"--extra={extra}" for extra in lock.extras]
        chosen += [f"--group={group}" for group in lock.groups]
        command = (*UV, *FORMAT, *chosen, *fixed, *options, "--output-file", lock.file)
        subprocess.run(command, cwd=root, check=True)
        fixed = ("--constraint", lock.file)


if __name__ == "__main__":
    write_locks(Path(__file__).resolve().parents[2], *sys.argv[1:])
