"""Text as the stages see it: tokens by script, sentences, similarity."""
