"""The dataflow: what feeds what, the engine that performs effects, and the runtimes."""
