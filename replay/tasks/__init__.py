"""Tasks: where in a recorded night an agent is tried, under which dice and which faults."""
