"""Ideas: what the team owns, searches for more, drafts from ideas."""
