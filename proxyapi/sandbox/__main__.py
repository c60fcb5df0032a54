"""`python -m proxyapi.sandbox`: the sandbox without Django, for a fast start."""

from __future__ import annotations

from proxyapi.sandbox.server import main

if __name__ == "__main__":
    main()
