"""Sign-in with the single sign-on of a team: to the provider, back, and into the team."""
