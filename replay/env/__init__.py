"""The Gymnasium face: `import replay.env`, then `gymnasium.make("Paprika-v0")`."""

from replay.env.registration import register_all

register_all()
