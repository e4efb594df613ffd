"""Indexing: keys are read once, then entries are gathered, of rows or of blocks."""
