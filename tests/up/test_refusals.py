"""What keeps the portal from starting is one sentence, and no traceback."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from dashboard.up import valkey
from dashboard.up.install import SetupError
from dashboard.up.install_paths import Installation, check_port_free


@pytest.mark.parametrize("text", ["http", "0", "65536", "-1", "80.5"])
def test_a_port_is_a_number_that_can_be_one(text):
    with pytest.raises(SetupError, match="must be a number from 1 to 65535"):
        Installation.from_environ({"PORT": text})


def test_a_setting_of_blanks_is_not_set():
    names = ("PORT", "SANDBOX_PORT", "VIDEO_API_BASE_URL", "REDIS_URL")
    place = Installation.from_environ(dict.fromkeys(names, " "))
    assert (place.port, place.sandbox_port, place.upstream, place.redis) == (8000, 8001, None, None)


def test_portal_and_sandbox_cannot_share_a_port():
    with pytest.raises(SetupError, match="are both 8001"):
        Installation.from_environ({"PORT": "8001"})


def test_without_the_sandbox_its_port_is_nobodys_concern():
    place = Installation.from_environ(
        {"PORT": "8001", "VIDEO_API_BASE_URL": "https://api.example/v2"}
    )

    assert place.port == 8001


def test_a_port_in_use_is_named_with_the_way_out():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(
            SetupError, match=rf"Port {port} cannot be used .* SANDBOX_PORT=\d+ make"
        ):
            check_port_free(port, "SANDBOX_PORT")


def test_secrets_are_written_once(tmp_path):
    place = Installation.from_environ({"REELROOM_VAR": str(tmp_path)})
    place.ensure_secrets()
    first = (tmp_path / "env").read_text()

    place.ensure_secrets()

    assert (tmp_path / "env").read_text() == first
    assert len(set(first)) > 20


def test_secrets_that_were_half_written_are_written_again(tmp_path):
    (tmp_path / "env").touch()
    (tmp_path / "env.new").write_text("SECRET_K")

    Installation.from_environ({"REELROOM_VAR": str(tmp_path)}).ensure_secrets()

    assert "ENCRYPTION_KEYS=k1:" in (tmp_path / "env").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["env"]


def test_secrets_that_cannot_be_written_are_reported_in_a_sentence(tmp_path):
    (tmp_path / "env.new").mkdir()

    with pytest.raises(SetupError, match="env cannot be written: "):
        Installation.from_environ({"REELROOM_VAR": str(tmp_path)}).ensure_secrets()


def test_a_socket_in_a_folder_that_an_address_writes_differently_lives_elsewhere(tmp_path):
    with valkey.valkey_socket(tmp_path / "c++") as socket_path:
        assert "+" not in str(socket_path)


def test_a_socket_with_a_short_name_lives_in_the_folder(tmp_path):
    folder = Path(tempfile.gettempdir())

    with valkey.valkey_socket(folder) as socket_path:
        assert socket_path.parent == folder


def test_a_socket_whose_name_would_be_too_long_lives_elsewhere_for_a_while(tmp_path):
    with valkey.valkey_socket(tmp_path / ("deep" * 30)) as socket_path:
        assert len(str(socket_path)) <= valkey.MAX_SOCKET_PATH_BYTES
        assert socket_path.parent.stat().st_mode & 0o077 == 0

    assert not socket_path.parent.exists()


def test_without_any_valkey_the_sentence_names_the_ways_out(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(SetupError, match="Install valkey-server or redis-server, or set REDIS_URL"):
        valkey.find_valkey_server()
