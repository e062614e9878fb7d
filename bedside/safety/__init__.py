"""What may reach the sleeper: six rules, own words, hard limits, and the one gate.

Everything here is pure: values in, values out. `gate.judge` is the only way to an actuator.
"""
