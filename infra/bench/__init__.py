"""Benchmarks: question sets with known evidence, metrics and baselines."""
