"""The Kafka runtime under load and under faults: a broker, an index server, one process a worker."""
