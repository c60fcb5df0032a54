"""`python -m dashboard.up`: everything on one machine, in one terminal, gone with Ctrl-C.

Standard library only, and no settings: it makes the secrets that the settings ask for.
"""
