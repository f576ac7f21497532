"""A memory whose stages are workers on Kafka: what is published and read here, they do the work elsewhere."""

from infra.remote.memory import KafkaMemory, open_remote

__all__ = ["KafkaMemory", "open_remote"]
