"""The device of a session in words, from the User-Agent header of its browser."""

from __future__ import annotations

from dataclasses import dataclass

# The first that occurs counts: most browsers also name those that they resemble.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "FxiOS": "Firefox",
    "Firefox/": "Firefox",
    "CriOS": "Chrome",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Macintosh": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}
HANDHELDS = frozenset({"iPhone", "iPad", "Android"})


@dataclass(frozen=True, slots=True)
class Device:
    name: str
    icon: str  # of heroicons


def describe_device(user_agent: str) -> Device:
    browser = next((name for mark, name in BROWSERS.items() if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), "")
    icon = "device-phone-mobile" if system in HANDHELDS else "computer-desktop"
    name = " on ".join(filter(None, (browser, system)))
    return Device(name or user_agent.partition("/")[0][:40] or "Unknown program", icon)
