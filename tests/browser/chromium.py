"""Finds a Chromium: one on the PATH, else Playwright's own download, else Debian's package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The headless shell first: without windows of its own it takes a fourth of the processor time.
NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
DOWNLOAD_SECONDS, INSTALL_SECONDS = 180, 600
# A test browser talks to the portal and to nobody else.
CHROMIUM_OPTIONS = [
    *("--disable-gpu", "--disable-quic", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
    *("--autoplay-policy=no-user-gesture-required",),
    # A tone instead of a microphone, which every page may use: the headless shell asks nobody.
    *("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"),
    *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
]


def find_chromium(own: str) -> str | None:
    """The path of a browser, or None; `own` is where Playwright would have its download."""
    return find_on_path() or find_download(own) or find_debian_package()


def find_on_path() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


def find_download(own: str) -> str | None:
    if not Path(own).exists():
        run_quietly([sys.executable, "-m", "playwright", "install", "chromium"], DOWNLOAD_SECONDS)
    return own if Path(own).exists() else None


def find_debian_package() -> str | None:
    if not (shutil.which("apt-get") and os.geteuid() == 0):
        return None
    run_quietly(["apt-get", "update", "-qq"], INSTALL_SECONDS)
    packages = ["chromium-headless-shell", "fonts-liberation"]
    run_quietly(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], INSTALL_SECONDS
    )
    return find_on_path()


def run_quietly(command: list[str], seconds: float) -> None:
    """Whether it worked shows in what is there afterwards."""
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(command, timeout=seconds, check=False, capture_output=True, env=environ)
    except (OSError, subprocess.TimeoutExpired):
        return
