"""Replay to re-index: another index of the same memory, or the memory derived anew, beside the live one."""
