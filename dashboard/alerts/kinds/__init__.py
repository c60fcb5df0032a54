"""One module per alert kind; its `SPEC` declares its texts, thresholds and finder.

`ALERT_KINDS` holds all of them in the order of `AlertKind`. A new kind needs a value there and a
module here; rules, forms, webhook types and docs/reference/alerts.md derive from the two.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from dashboard.alerts.declaration import AlertKindSpec
from dashboard.models import AlertKind


def load_alert_kinds() -> Mapping[str, AlertKindSpec]:
    """Raises `KeyError` for a value of `AlertKind` without a module."""
    modules = [
        import_module(f"{__name__}.{entry.name}") for entry in pkgutil.iter_modules(__path__)
    ]
    specs: dict[str, AlertKindSpec] = {module.SPEC.kind: module.SPEC for module in modules}
    return {kind: specs[kind] for kind in AlertKind}


ALERT_KINDS = load_alert_kinds()
