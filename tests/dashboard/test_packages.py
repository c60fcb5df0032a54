"""The product imports only packages that are installed with it: `make run` and the container images
have none for developing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IMPORT_ALL = """
import importlib, pkgutil, re, sys
from importlib.metadata import packages_distributions
from pathlib import Path

def read_names(lock):
    pins = re.findall(r"^([A-Za-z0-9_.-]+)==", Path(lock).read_text(), re.M)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in pins}

product = read_names("requirements.lock")
missing = read_names("requirements-dev.lock") - product | set(sys.argv[1:])

def is_missing(distributions):
    return {re.sub(r"[-_.]+", "-", name).lower() for name in distributions} <= missing

refused = {name for name, found in packages_distributions().items() if is_missing(found)}

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name in refused:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotInstalled())
import django
django.setup()
for package in ("dashboard", "proxyapi"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not module.name.startswith("proxyapi.sandbox.media") and "__main__" not in module.name:
            importlib.import_module(module.name)
"""


def import_all(*removed: str) -> subprocess.CompletedProcess[str]:
    """Import every module of the product without the packages that are for developing alone, and
    without `removed`."""
    return subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *removed],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_module_needs_a_package_that_is_for_developing_alone() -> None:
    done = import_all()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", ["requests", "mcp"])
def test_a_package_that_is_missing_is_noticed(package: str) -> None:
    done = import_all(package)
    assert done.returncode != 0
    assert f"No module named '{package}'" in done.stderr
