"""A stateful implementation of the whole upstream API v2, scriptable in its bad days.

It is a leaf: it imports neither Django nor the portal's client, and nothing but its own
command and the tests imports it.
"""
