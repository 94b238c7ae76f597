"""The commands, one a module: each parses, calls, prints. Work modules are imported where they are needed."""
