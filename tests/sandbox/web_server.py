"""A web server on loopback with pages as they are found: good, broken, slow, treacherous."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
    "53de0000000c49444154789c6360f8cf00000301010018dd8db00000000049454e44ae426082"
)
ARTICLE = """<!doctype html><html lang="en"><head><title>Short</title>
<meta name="theme-color" content="#AA3311"><meta property="og:title" content="Foxes at night">
</head><body><nav><p>Home, about us, and all the other things</p></nav><article>
<h1>Foxes at night</h1><img src="/fox.png" alt="A fox in the forest"><img src="second.png">
<img src="http://10.0.0.1/secret.png"><img src="data:image/png;base64,AAAA">
<p>A fox leaves its den when the light fades, and walks the same way every night.
<p>It hears a mouse below the snow from forty paces away &amp; seldom misses.
<script>var stolen = "never";</script></article></body>"""

Answer = tuple[int, dict[str, str], bytes]


class PageHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    answers: dict[str, Answer]
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, headers, body = self.answers.get(self.path, (404, {}, b"gone"))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class PageServer:
    def __init__(self) -> None:
        html, png = {"Content-Type": "text/html; charset=utf-8"}, {"Content-Type": "image/png"}
        self.answers: dict[str, Answer] = {
            "/article": (200, html, ARTICLE.encode()),
            "/fox.png": (200, png, PNG),
            "/second.png": (200, png, PNG + b"2"),
            "/film.mp4": (200, {"Content-Type": "video/mp4"}, b"\0\0\0\x18ftypisom" + bytes(16)),
            "/reel": (200, html, b"<title>A reel</title><img src='/film.mp4'>"),
            "/lying.png": (200, png, b"<html>"),
            "/plain": (200, html, b"<title>No pictures</title><p>Only words, but enough of them."),
            "/empty": (200, html, b"<html><body></body></html>"),
            "/file": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.7"),
            "/error": (500, html, ARTICLE.encode()),
            "/huge": (200, html, b"<p>" + b"x" * 4_100_000),
            "/moved": (302, {"Location": "/article"}, b""),
            "/away": (302, {"Location": "http://169.254.169.254/latest/meta-data"}, b""),
            "/outside": (302, {"Location": "https://example.com/"}, b""),
            "/loop": (302, {"Location": "/loop"}, b""),
            "/odd": (200, {"Content-Type": "text/html; charset=klingon"}, ARTICLE.encode()),
            "/deep": (200, html, b"<div>" * 100_000 + b"<p>" + b"deep down here it is dark " * 3),
        }
        asked: list[str] = []
        handler = type("Handler", (PageHandler,), {"answers": self.answers, "asked": asked})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.asked = asked
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self._thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server.server_port}{path}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()
