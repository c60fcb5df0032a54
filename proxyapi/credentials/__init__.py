"""Encryption at rest: the envelope (`encryption`) and the only code that decrypts a token
(`token_vault`)."""
