"""Blocks of one shape brought to one form: a uniform axis of components as a level above them.

    (n, 2, None, None)      n components of axes (2, None, None), or n times two components of axes (None, None)

Both are made: the first by ``item_shape=``, the second by ``x[None]`` or `stack`. Only the second can hold components
of sizes of their own, so that is the form in which they meet. Nothing is moved.
"""

from itertools import takewhile
from typing import Any

from ..._array import RaggedArray
from ..._partition import uniform_levels
from ...structure.views import lifted
from ..innermost import innermost


def same_levels(xs: list[Any]) -> list[Any]:
    """Operands with as many levels above their components, as far as uniform axes allow; one object stays one."""
    ragged = [x for x in xs if isinstance(x, RaggedArray)]
    most = max((len(x.partitions) for x in ragged), default=0)
    if all(x.partitions[-1].axes[0] is None or len(x.partitions) == most for x in ragged):
        return xs
    made = {id(x): leveled(x, most - 1) for x in ragged}
    return [made.get(id(x), x) for x in xs]


def leveled(x: RaggedArray, above: int) -> RaggedArray:
    """The same with ``above`` levels above its components, or as many as its leading uniform axes give."""
    uniform = tuple(n for n in takewhile(lambda n: n is not None, x.partitions[-1].axes) if n is not None)
    uniform = uniform[: max(above + 1 - len(x.partitions), 0)]
    if not uniform:
        return x
    block = innermost(x)
    below = x.kernels.call(lifted, block, count=len(uniform))
    return RaggedArray(x.values, (*x.partitions[:-1], *uniform_levels(block.nrows, uniform), below))
