"""Any product: components of like shapes at a time, as stacks of matrices. Under jit that takes a `BucketPlan`."""

from typing import Any

from .._typing import Array
from ..backends import kernels, namespace
from ..engine.components.apply import StackFunction, apply_in_buckets
from ..engine.components.form import Sizes
from ._contraction import ROWS, Axes, Contraction, dense_product


class Bucketed:
    """Bucket by bucket."""

    @staticmethod
    def applies(c: Contraction) -> bool:
        """Whether some operand has components."""
        return bool(c.forms)

    @staticmethod
    def run(c: Contraction) -> Any:
        """One dense product a bucket."""
        components = [(o.axes, o.form.block.axes) for o in c.operands if o.form is not None]

        def shapes(ragged: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
            """An axis of several operands has one size, the largest, in all stacks of a bucket."""
            sizes, largest = iter(ragged), dict[int, int]()
            for own, block in components:
                for axis, n in zip(own, block, strict=False):
                    size, uniform = next(sizes) if n is None else n, c.sizes[axis]
                    largest[axis] = max(largest.get(axis, 0), size) if uniform is None else uniform
            return tuple(tuple(largest[axis] for axis in own[: len(block)]) for own, block in components)

        def rule(sizes: list[Sizes]) -> list[Sizes]:
            of_axis: dict[int, Any] = {}
            for (own, _), of_operand in zip(components, sizes, strict=True):
                of_axis = dict(zip(own, of_operand, strict=True)) | of_axis
            of_axis |= {axis: n for axis, n in c.sizes.items() if n is not None}
            return [tuple(of_axis[axis] for axis in c.out)]

        static: dict[str, Any] = {
            "axes": tuple(o.axes if o.form is None else (ROWS, *o.axes) for o in c.operands),
            "out": (ROWS, *c.out),
            "stacked": tuple(o.form is not None for o in c.operands),
            "dtype": str(c.dtype),
        }
        shared = tuple(o.values for o in c.operands if o.form is None)
        function = StackFunction(_product, tuple(static.items()), shared)
        (result,) = apply_in_buckets(function, c.forms, rule, shapes=shapes, bucket=c.bucket, capacity=c.capacity)
        return result


def _product(
    stacks: tuple[Array, ...], _sizes: Any, *shared: Array,
    axes: tuple[Axes, ...], out: Axes, stacked: tuple[bool, ...], dtype: str,
) -> tuple[Array, ...]:  # fmt: skip
    of_components, of_all = iter(stacks), iter(shared)
    product = dense_product([next(of_components) if s else next(of_all) for s in stacked], axes, out)
    name = dtype.rsplit(".", 1)[-1]
    return (namespace(product).astype(product, kernels(product).dtype(name), copy=False),)
