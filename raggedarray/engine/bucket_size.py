"""Which static size to allocate for a number of entries that varies."""

from collections.abc import Sequence
from operator import index

from .._errors import error_text
from .arguments import sizes_of

Policy = str | Sequence[int]


def bucket_size(n: int, *, mantissa_bits: int = 2, minimum: int = 8, policy: Policy = "geometric") -> int:
    """Round a size up to one of few, so that data of any size meets a handful of compiled programs.

    ``geometric`` sizes have ``mantissa_bits`` bits after the leading one (2 bits: 8, 10, 12, 14, 16, 20, ...),
    which wastes at most ``2 ** -mantissa_bits``. ``linear`` sizes are multiples of ``minimum``. A sequence
    gives the sizes themselves. Nothing below ``minimum`` is returned by the first two.

    >>> [bucket_size(n) for n in (0, 9, 17, 1000)]
    [8, 10, 20, 1024]
    >>> bucket_size(100, policy=[64, 128, 256])
    128
    """
    n = sizes_of(n)
    if n < 0 or minimum < 1 or mantissa_bits < 0:
        raise ValueError(
            error_text(
                "n >= 0, minimum >= 1, mantissa_bits >= 0",
                f"{n}, {minimum}, {mantissa_bits}",
                "Pass a size.",
            )
        )
    if policy == "geometric":
        shift = max(n.bit_length() - mantissa_bits - 1, 0)
        size = -(-n >> shift) << shift
        return max(size, minimum)
    if policy == "linear":
        return max(-(-n // minimum), 1) * minimum
    if isinstance(policy, str) or not len(policy):
        raise ValueError(error_text("'geometric', 'linear' or sizes", repr(policy), "Pass one of these."))
    enough = [index(size) for size in policy if size >= n]
    if not enough:
        raise ValueError(error_text(f"a size of at least {n}", f"{list(policy)}", "Add a larger size."))
    return min(enough)
