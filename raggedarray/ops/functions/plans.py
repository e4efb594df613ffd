"""Plans of how components of many shapes are padded to few, which the engine makes use of."""

from ...engine.components.plan import BucketPlan

__all__ = ["BucketPlan"]
