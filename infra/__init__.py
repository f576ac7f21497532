"""Everything that touches the world: settings, wiring, command line, importers, models, index adapters."""
