"""A bundled conversation of our own, and what one may ask about it."""
