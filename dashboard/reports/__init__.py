"""What scripts read of a team's pages, and what they add to its library, through the gateway."""
