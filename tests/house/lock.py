"""requirements.lock says what pyproject.toml asks for, with hashes and without addresses.

After a change of the dependencies, write it anew with:

    .venv/bin/uv pip compile pyproject.toml --all-extras --group dev --universal \\
        --python-version 3.11 --generate-hashes --no-header --no-annotate -o requirements.lock
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9_.\-]+)==(?P<version>[^\s;]+)(?P<rest>.*?)(?=^\S|\Z)", re.M | re.S
)


def broken(root: Path) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    yield from differences(wanted(project), (root / "requirements.lock").read_text())


def wanted(project: dict[str, dict[str, object]]) -> list[str]:
    """Every requirement: of the site, of its extras, of the tests."""
    metadata, groups = project["project"], project.get("dependency-groups", {})
    lists = [metadata["dependencies"]]
    lists += list((metadata.get("optional-dependencies") or {}).values())  # type: ignore[attr-defined]
    lists += list(groups.values())
    return [text for group in lists for text in group]  # type: ignore[attr-defined]


def differences(requirements: list[str], lock: str) -> Iterator[str]:
    if "://" in lock:
        yield "requirements.lock holds an address: it may name no index and no file"
    pins: dict[str, list[str]] = {}
    for pin in PIN.finditer(lock):
        pins.setdefault(canonicalize_name(pin["name"]), []).append(pin["version"])
        if "--hash=sha256:" not in pin["rest"]:
            yield f"requirements.lock: {pin['name']} has no hash"
    for text in requirements:
        requirement = Requirement(text)
        versions = pins.get(canonicalize_name(requirement.name), [])
        if not any(requirement.specifier.contains(version) for version in versions):
            found = ", ".join(versions) or "nothing"
            yield f"requirements.lock: {text} is not in it (found: {found})"
