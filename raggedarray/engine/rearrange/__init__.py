"""Entries moved along ragged axes: within rows, from row to row, within blocks."""
