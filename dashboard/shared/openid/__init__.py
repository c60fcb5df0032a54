"""OpenID Connect as a client: the authorization code flow with PKCE, state and nonce.

`authorization` sends a browser to the provider and takes it back once; `code_exchange` turns the
code into a `ProviderIdentity`, which `id_token` verified. Nothing here knows pages or changes who
may do what; `session_teams` says which teams a session opens.
"""
