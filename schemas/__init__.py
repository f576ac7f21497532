"""What travels between the stages, and what memory is made of."""
