"""`python -m dashboard.up`: runs all programs on one machine in one terminal; Ctrl-C stops them.

It uses only the standard library and no settings, because it creates the secrets that settings
need.
"""
