"""Words that may stand in no file: secrets, hosts of package registries, paths of one machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

# Written so that a pattern does not match itself.
FORBIDDEN = {
    "a token": r"\b(?:sbx|rr)_[A-Za-z0-9]{20,}|\bgh[p]_[A-Za-z0-9]{30,}|\bAKI[A][0-9A-Z]{16}\b",
    "a private key": r"-----BEGI[N] [A-Z ]*PRIVATE KEY-----",
    "an encryption key": r"\bk\d+:[A-Za-z0-9+/]{43}=",
    "a registry's host": r"\bpyp[i]\.org|pythonhoste[d]\.org|registry\.npmj[s]|deb\.debia[n]\.org",
    "a path of one machine": r"/roo[t]/|/hom[e]/[a-z]+/|/wor[k]/",
}
# A token that says of itself that it opens nothing.
HARMLESS = re.compile(r"canary|example|harmless|0{8}|A{20}", re.IGNORECASE)
SKIPPED = {".git", ".venv", "var", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
SKIPPED |= {".hypothesis", ".import_linter_cache", ".env"}


def find_forbidden_text(root: Path) -> Iterator[str]:
    for path in checked_files(root):
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # a picture
        for complaint in forbidden_matches(text):
            yield f"{path.relative_to(root)}:{complaint}"


def checked_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in SKIPPED or path.is_symlink():
            continue
        if path.is_dir():
            yield from checked_files(path)
        elif path.is_file():
            yield path


def forbidden_matches(text: str) -> Iterator[str]:
    for what, pattern in FORBIDDEN.items():
        for found in re.finditer(pattern, text):
            if not HARMLESS.search(found.group()):
                yield f"{text.count(chr(10), 0, found.start()) + 1}: this looks like {what}"
