"""A model plane of one's own: encoders and rerankers behind OpenAI-compatible HTTP, on Ray Serve.

``requests`` reads and answers requests and knows no Ray; ``plane`` alone imports it, so that no stage worker does.
"""
