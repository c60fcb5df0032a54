"""Filters and tags of our own templates: amounts, spans of time, glyphs."""

from __future__ import annotations

from django import template

register = template.Library()
