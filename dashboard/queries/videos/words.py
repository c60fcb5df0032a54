"""Words that several parts of a video's page share; spans and moments are in `templatetags`."""

from __future__ import annotations

from proxyapi.models import Job, JobKind

MINUTE = 60
TYPES = {
    "ai-visuals": "AI visuals",
    "ai-clips": "AI clips",
    "b-roll": "B-roll",
    "url-based": "From a page",
}
KINDS: dict[str, str] = {
    JobKind.FACELESS: "Faceless video",
    JobKind.CLIP: "Text to video",
    JobKind.STORYBOARD: "Storyboard",
    JobKind.CLONE: "Voice clone",
    JobKind.CHARACTER: "Character",
}
OPERATIONS = {
    "scripts": "script",
    "scrape_script": "script",
    "render": "render",
    "retry": "retry",
    "export": "export",
}


def type_of(job: Job) -> str:
    return TYPES.get(str(job.wanted.get("type")), KINDS[job.kind])


def deed(operation: str) -> str:
    """What a charging operation is called in a sentence: "the render was sent"."""
    return OPERATIONS.get(operation.rpartition(".")[2], "request")


def spread(low: float, high: float) -> str:
    """From low to high seconds, with the unit once where it is the same: "4–7 min"."""
    if high < 2 * MINUTE:
        first, last, unit = max(1, round(low)), max(1, round(high)), "s"
    elif low < MINUTE:
        return f"{max(1, round(low))} s to {round(high / MINUTE)} min"
    else:
        first, last, unit = round(low / MINUTE), round(high / MINUTE), "min"
    return f"{first} {unit}" if first == last else f"{first}–{last} {unit}"


def quoted(text: str) -> str:
    """The service's own words, in quotes. Escaping is left to the template."""
    return f"“{text.strip()}”"
