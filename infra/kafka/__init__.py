"""Kafka: one node of our own for tests and for trying things out, and the topics as code."""

from infra.kafka.archive import keep_loaded
from infra.kafka.broker import Broker
from infra.kafka.cluster import Applied, Cluster
from infra.kafka.differences import Differences, FoundTopic, TopicsUnfitError, difference
from infra.kafka.errors import BrokerFailedError
from infra.kafka.jars import bring
from infra.kafka.topics import WantedTopic, wanted

__all__ = [
    "Applied",
    "Broker",
    "BrokerFailedError",
    "Cluster",
    "Differences",
    "FoundTopic",
    "TopicsUnfitError",
    "WantedTopic",
    "bring",
    "difference",
    "keep_loaded",
    "wanted",
]
