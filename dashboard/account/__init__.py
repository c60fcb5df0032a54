"""Sign-in: its limits, its history, the expiry of unused sessions, and mails about passwords."""
