"""Workers: one process a stage, many of them under a supervisor."""
