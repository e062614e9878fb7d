"""The commands of `paprika`, a module each; loaded when asked for."""
