"""Control agents: what an environment must catch, and what a good agent must beat."""
