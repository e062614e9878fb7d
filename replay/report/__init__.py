"""The pages of a run: one static folder that needs no server and no network."""
