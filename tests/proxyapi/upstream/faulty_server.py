"""A server on a real socket: it answers with given bytes, and breaks the line on demand."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

RESET = b"<reset>"  # at the end of an answer: TCP RST instead of FIN
STALL = b"<stall>"  # at the end of an answer: nothing more comes


class ReceivedRequests:
    """What the server got so far, by request, and the address of its API."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v2"
        self.requests: list[bytes] = []


@contextmanager
def serve_answer(answer: bytes) -> Iterator[ReceivedRequests]:
    """Serve `answer` to every connection, after its request is in."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = ReceivedRequests(server.getsockname()[1])
        server.settimeout(0.02)
        thread = threading.Thread(target=_serve, args=(server, answer, line, over))
        thread.start()
        try:
            yield line
        finally:
            over.set()
            thread.join()


def _serve(
    server: socket.socket, answer: bytes, line: ReceivedRequests, over: threading.Event
) -> None:
    while not over.is_set():
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        with connection:
            line.requests.append(connection.recv(65536))
            connection.sendall(answer.removesuffix(RESET).removesuffix(STALL))
            if answer.endswith(STALL):
                over.wait()
            if answer.endswith(RESET):
                now = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)


def http_response(status: str, body: bytes, *headers: str, length: int | None = None) -> bytes:
    """An HTTP answer; `length` lies about the body's."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {size}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
