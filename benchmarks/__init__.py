"""Ratios against hand-written JAX and other libraries, measured in one run on one machine."""
