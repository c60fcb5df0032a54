"""Over rediss:// no task is sent to a server that does not prove its identity."""

from __future__ import annotations

import os
import socketserver
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from dashboard.celery import app
from dashboard.up.install import ROOT

RING = "from dashboard.celery import app; app.connection_for_write().channel()"


class RecordingHandler(socketserver.BaseRequestHandler):
    server: TlsServer

    def handle(self) -> None:
        tls = self.server.tls
        with suppress(OSError), tls.wrap_socket(self.request, server_side=True) as line:
            self.server.heard += line.recv(1)


class TlsServer(socketserver.ThreadingTCPServer):
    """Listens on loopback with a certificate of its own making, and hangs up."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), RecordingHandler)
        self.certificate = own_certificate(folder / "own.pem")
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.certificate)
        self.address = f"rediss://127.0.0.1:{self.server_address[1]}/0"
        self.heard = b""


def own_certificate(path: Path) -> Path:
    """With its key, for 127.0.0.1."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "own")])
    here = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(secret + made.public_bytes(pem))
    return path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TlsServer]:
    with TlsServer(tmp_path) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("told", "is_told"),
    [("", False), ("?ssl_ca_certs={}", True), ("?ssl_cert_reqs=none", True)],
    ids=["of nobody", "of one to be trusted", "to trust anybody"],
)
def test_a_certificate_is_checked_as_far_as_the_address_lets_it(
    server: TlsServer, told: str, is_told: bool
) -> None:
    environ = {**os.environ, "REDIS_URL": server.address + told.format(server.certificate)}
    done = subprocess.run(
        [sys.executable, "-c", RING], cwd=ROOT, env=environ, capture_output=True, check=False
    )
    assert done.returncode
    assert (b"certificate verify failed" in done.stderr) is not is_told
    assert bool(server.heard) is is_told


def test_without_tls_no_certificate_is_asked_for() -> None:
    assert not app.connection_for_write().ssl


def test_a_process_that_only_set_django_up_enqueues_with_the_portals_broker() -> None:
    """Web processes and commands import no Celery app of their own."""
    said = "from celery import current_app; print(current_app.main)"
    command = [sys.executable, "-c", f"import django; django.setup(); {said}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.split()[-1] == b"reelroom"
