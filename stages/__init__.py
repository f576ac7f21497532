"""Pure decisions: (message, state) -> outcome."""
