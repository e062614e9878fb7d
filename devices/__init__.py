"""Words and ports of the bedside, and every driver. Imports nothing of ours."""
