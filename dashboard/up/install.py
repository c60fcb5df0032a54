"""Create `.venv` and install a lock into it: `python3 -m dashboard.up.install requirements.lock`.

It runs on whatever `python3` is, so it uses syntax of old versions and imports only the standard
library. Each lock contains the previous one in the same versions
(docs/decisions/0020-three-locks.md), so `.venv` grows from run to develop and nothing in it is
replaced. It does nothing if `.venv` already has the lock for this Python. Every failure is one
sentence and exit code 1.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
# From the smallest to the largest, with the size of `.venv` afterwards.
LOCK_SIZES_MB = {
    "requirements.lock": 180,
    "requirements-media.lock": 380,
    "requirements-dev.lock": 800,
}
STAMP_FILE = VENV / "installed"
MIN_PYTHON = (3, 11)
PIP_OPTIONS = [
    *(
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar",
        "off",
        "--retries",
        "2",
    ),
    # Only wheels: a bare machine has no compiler, and a source build runs third-party code.
    *("--require-hashes", "--no-deps", "--only-binary", ":all:"),
    # Python compiles modules on import, about a third of all; this saves 40 MB and time.
    "--no-compile",
]
INSTALL_STARTED_LINE = "Installing collected packages"  # pip's output after the last download
FAILURE_REASONS = [
    (
        r"do not match the hashes",
        "The hash of a package differs from the lock file ({}). Clear pip's cache and try again.",
    ),
    (
        r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Connection refused",
        "The package index does not answer. Check the network or pip's settings, then try again.",
    ),
    (r"No space left", "The disk is full. Free some space, then try again."),
    (
        r"No matching distribution found for (\S+)|is not a supported wheel",
        "There is no wheel of {} for this machine. Linux and macOS are supported.",
    ),
]


class SetupError(Exception):
    """The reason why setup or start failed, as one sentence for the terminal."""


def main(arguments: list[str]) -> int:
    try:
        return install_requirements(*arguments)
    except SetupError as reason:
        print(f"reelroom: {reason}", file=sys.stderr)
    except KeyboardInterrupt:
        print("reelroom: Stopped before the packages were installed.", file=sys.stderr)
    return 1


def install_requirements(name: str) -> int:
    if sys.version_info < MIN_PYTHON:
        version = "{}.{}".format(*sys.version_info[:2])
        raise SetupError(
            f"Reelroom needs Python 3.11 or newer; {sys.executable} is {version}. "
            "Use a newer one: make PYTHON=python3.13 run"
        )
    stamp = STAMP_FILE.read_text() if STAMP_FILE.is_file() and PYTHON.exists() else ""
    if is_lock_installed(stamp, name):
        return 0
    print(f"reelroom: Installing packages: .venv takes about {LOCK_SIZES_MB[name]} MB.", flush=True)
    is_kept = stamped_python_version(stamp) == running_python_version()
    if not is_kept:
        make_venv()
    STAMP_FILE.unlink(missing_ok=True)  # an interrupted run starts with a new `.venv`
    completed = run_command(
        [*pip_command(), "install", *PIP_OPTIONS, "--requirement", str(ROOT / name)]
    )
    if completed.returncode != 0:
        if is_kept and INSTALL_STARTED_LINE not in completed.stdout:
            STAMP_FILE.write_text(stamp)  # nothing was changed: the previous release still works
        raise SetupError(explain_failure(completed.stdout))
    STAMP_FILE.write_text(build_stamp(name))
    return 0


def is_lock_installed(stamp: str, name: str) -> bool:
    """True if a `.venv` with this stamp has the whole lock, for this Python."""
    return (
        lock_digest(name) in stamp.split()
        and stamped_python_version(stamp) == running_python_version()
    )


def build_stamp(name: str) -> str:
    """The content of `.venv` with this lock: the hashes of the locks up to it, and the Python
    version."""
    names = list(LOCK_SIZES_MB)
    installed = names[: names.index(name) + 1]
    return " ".join([*map(lock_digest, installed), running_python_version()])


def lock_digest(name: str) -> str:
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def running_python_version() -> str:
    return "{}.{}.{}".format(*sys.version_info[:3])


def stamped_python_version(stamp: str) -> str:
    return stamp.rpartition(" ")[2]


def make_venv() -> None:
    """Create a new `.venv`, without its own pip if this Python has no ensurepip (as on Debian)."""
    if not has_module("venv") or not (has_module("ensurepip") or has_module("pip")):
        raise SetupError(
            f"{sys.executable} has no venv or no pip. On Debian: apt-get install python3-venv"
        )
    shutil.rmtree(VENV, ignore_errors=True)
    pip_options = [] if has_module("ensurepip") else ["--without-pip"]
    completed = run_command([sys.executable, "-m", "venv", *pip_options, str(VENV)])
    if completed.returncode != 0:
        raise SetupError(
            f"The virtual environment {VENV} could not be created: {last_line(completed.stdout)}"
        )


def pip_command() -> list[str]:
    """The pip of `.venv`, else that of the Python that runs this."""
    if (VENV / "bin" / "pip").exists():
        return [str(PYTHON), "-m", "pip"]
    return [sys.executable, "-m", "pip", "--python", str(PYTHON)]


def has_module(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def run_command(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - no user input
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def explain_failure(output: str) -> str:
    for pattern, sentence in FAILURE_REASONS:
        match = re.search(pattern, output, re.IGNORECASE)
        if match:
            return sentence.format(next(filter(None, match.groups()), "one of them"))
    return f"The packages were not installed: {last_line(output)}"


def last_line(output: str) -> str:
    return (output.strip().splitlines() or ["no reason was given."])[-1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
