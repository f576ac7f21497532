"""Nights: runs of consolidation over spaces, on a home or on a cluster, and what is known of those that were."""
