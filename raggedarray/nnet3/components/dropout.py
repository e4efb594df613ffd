"""Random masks. The mask of a row depends on the key, the node and the row's Index, and on no other row.

A key is needed where a mask is drawn: in training mode, with something to drop. Each group of rows that
share numbers draws from a key of its own, made from the group's numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ..._typing import Array, Namespace
from .._reads import Nothing, Reads
from .._typing import Floats, Ints
from ._base import Component, Key, Pairs, Params, RowContext, Rowwise, divides, pick, positive


def _per_group(draw: Callable[[Key], jax.Array], key: Key, groups: Array) -> jax.Array:
    def one(numbers: jax.Array) -> jax.Array:
        group_key = key
        for k in range(groups.shape[1]):
            group_key = jax.random.fold_in(group_key, numbers[k])
        return draw(group_key)

    masks: jax.Array = jax.vmap(one)(groups)
    return masks


def _proportion(component: Component, value: float, name: str = "dropout-proportion", below: float = 1.0) -> None:
    if not 0 <= value <= below:
        raise component.error(f"{name} from 0 to {below:g}", value, "Change it.")


def _grouped(index: Ints) -> RowContext:
    groups, mark = np.unique(index, axis=0, return_inverse=True)
    return RowContext(mark=mark.reshape(-1).astype(np.int32), groups=groups.astype(np.int32))


class _RowByRow:
    """A mask for each row in training, drawn from the key and the row's own Index."""

    test_mode: bool
    dropout_proportion: float

    def needs_key(self) -> bool:
        """In training."""
        return not self.test_mode and self.dropout_proportion > 0

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """Each row is its own group."""
        rows = np.arange(index.shape[0], dtype=np.int32)
        return RowContext(mark=rows, groups=index.astype(np.int32)) if self.needs_key() else RowContext()


@dataclass(frozen=True, kw_only=True)
class Dropout(_RowByRow, Rowwise):
    """In training elements, or rows with ``dropout-per-frame``, become 0; in test mode all are scaled by ``1 - p``."""

    kind: ClassVar[str] = "DropoutComponent"
    tags: ClassVar[tuple[str, ...]] = ("Dim", "DropoutProportion", "DropoutPerFrame", "TestMode")
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    random: ClassVar[bool] = True
    dropout_proportion: float = 0.0
    dropout_per_frame: bool = False
    test_mode: bool = False

    def _complete(self) -> None:
        super()._complete()
        _proportion(self, self.dropout_proportion)

    def noise(self, key: Key, groups: Array) -> Array:
        """1 with probability ``1 - p``, else 0."""
        width = 1 if self.dropout_per_frame else self.dim
        keep = 1 - self.dropout_proportion
        return _per_group(lambda k: jax.random.bernoulli(k, keep, (width,)).astype(jnp.float32), key, groups)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A mask, or a scale."""
        if not self.needs_key():
            return x * (1 - self.dropout_proportion)
        return x * pick(xp, facts.noise, facts.mark)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The same factor."""
        return self.forward(np, params, dy, facts), {}


@dataclass(frozen=True, kw_only=True)
class GeneralDropout(Rowwise):
    """In training, blocks times a mask that rows of one sequence share, for ``time-period`` frames at a time if not 0.

    A mask holds 0 and ``1 / (1 - p)``, or with ``continuous`` numbers from ``[1 - 2p, 1 + 2p]``. With
    ``specaugment-max-proportion`` it holds 0 in a few stretches of columns and 1 elsewhere. In test mode nothing
    changes.
    """

    kind: ClassVar[str] = "GeneralDropoutComponent"
    tags: ClassVar[tuple[str, ...]] = (
        *("Dim", "BlockDim", "TimePeriod", "DropoutProportion"),
        *("SpecAugmentMaxProportion?", "SpecAugmentMaxRegions?", "TestMode!", "Continuous!"),
    )
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    random: ClassVar[bool] = True
    block_dim: int = 0
    time_period: int = 0
    dropout_proportion: float = 0.5
    continuous: bool = False
    specaugment_max_proportion: float = 0.0
    specaugment_max_regions: int = 1
    test_mode: bool = False

    def _complete(self) -> None:
        super()._complete()
        object.__setattr__(self, "block_dim", self.block_dim or self.dim)
        positive(self, "block_dim", "specaugment_max_regions")
        divides(self, "block_dim", "dim")
        _proportion(self, self.dropout_proportion, below=0.5 if self.continuous else 0.999)
        _proportion(self, self.specaugment_max_proportion, "specaugment-max-proportion")
        if self.time_period < 0:
            raise self.error("time-period of at least 0", self.time_period, "Use 0 for one mask per sequence.")

    def needs_key(self) -> bool:
        """In training."""
        return not self.test_mode and (self.dropout_proportion > 0 or self.specaugment_max_proportion > 0)

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """Rows of one sequence and one period are a group."""
        if not self.needs_key():
            return RowContext()
        period = index[:, 1] // self.time_period if self.time_period else np.zeros_like(index[:, 1])
        return _grouped(np.stack([index[:, 0], period], axis=1))

    def noise(self, key: Key, groups: Array) -> Array:
        """A mask of ``block-dim`` columns per group."""
        return _per_group(self._mask, key, groups)

    def _mask(self, key: Key) -> jax.Array:
        width, p = self.block_dim, self.dropout_proportion
        if self.specaugment_max_proportion > 0:
            size, count, turn = jax.random.split(key, 3)
            zeros = jax.random.randint(size, (), 0, int(width * self.specaugment_max_proportion) + 1)
            regions = jax.random.randint(count, (), 1, self.specaugment_max_regions + 1)
            place = (jnp.arange(width) + jax.random.randint(turn, (), 0, width)) % width
            # As many equal parts of the circle of columns as there are regions; each begins with its share of zeros.
            return jnp.where((place * regions) % width < zeros, 0.0, 1.0).astype(jnp.float32)
        if self.continuous:
            return 1 + 2 * p * jax.random.uniform(key, (width,), jnp.float32, -1, 1)
        return jax.random.bernoulli(key, 1 - p, (width,)).astype(jnp.float32) / (1 - p)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A mask, or the identity."""
        if not self.needs_key():
            return x
        mask = xp.tile(pick(xp, facts.noise, facts.mark), (1, self.dim // self.block_dim))
        return x * mask

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The same mask."""
        return self.forward(np, params, dy, facts), {}


@dataclass(frozen=True, kw_only=True)
class DropoutMask(_RowByRow, Component):
    """Masks of no input: 0 and 1, or with ``continuous`` numbers around 1. In test mode ``1 - p`` (or 1)."""

    kind: ClassVar[str] = "DropoutMaskComponent"
    tags: ClassVar[tuple[str, ...]] = ("OutputDim", "DropoutProportion", "TestMode", "Continuous!")
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    random: ClassVar[bool] = True
    output_dim: int = 0
    input_dim: int = 0
    dropout_proportion: float = 0.5
    continuous: bool = False
    test_mode: bool = False

    def _complete(self) -> None:
        positive(self, "output_dim")
        _proportion(self, self.dropout_proportion, below=0.5 if self.continuous else 1.0)
        object.__setattr__(self, "input_dim", self.input_dim or self.output_dim)

    @property
    def reads(self) -> Reads:
        """Nothing."""
        return Nothing()

    def noise(self, key: Key, groups: Array) -> Array:
        """A mask per row."""
        p, shape = self.dropout_proportion, (self.output_dim,)
        if self.continuous:
            return _per_group(lambda k: 1 + 2 * p * jax.random.uniform(k, shape, jnp.float32, -1, 1), key, groups)
        return _per_group(lambda k: jax.random.bernoulli(k, 1 - p, shape).astype(jnp.float32), key, groups)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A mask, or a constant."""
        if not self.needs_key():
            mean = 1.0 if self.continuous else 1 - self.dropout_proportion
            return xp.full((x.shape[0], self.output_dim), mean, dtype=x.dtype)
        return pick(xp, facts.noise, facts.mark)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Nothing."""
        return np.zeros_like(x), {}


@dataclass(frozen=True, kw_only=True)
class SpecAugmentTimeMask(Rowwise):
    """In training, stretches of frames become 0, up to ``time-mask-max-frames`` long and ``zeroed-proportion`` of all.

    Stretches that stay are up to ``(1 - p) / p`` times as long. In test mode it is the identity.
    """

    kind: ClassVar[str] = "SpecAugmentTimeMaskComponent"
    tags: ClassVar[tuple[str, ...]] = ("Dim", "ZeroedProportion", "TimeMaskMaxFrames", "TestMode!")
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    random: ClassVar[bool] = True
    zeroed_proportion: float = 0.25
    time_mask_max_frames: int = 10
    test_mode: bool = False

    def _complete(self) -> None:
        super()._complete()
        _proportion(self, self.zeroed_proportion, "zeroed-proportion", 0.999)
        positive(self, "time_mask_max_frames")

    def needs_key(self) -> bool:
        """In training."""
        return not self.test_mode and self.zeroed_proportion > 0

    @property
    def _kept_frames(self) -> int:
        p = self.zeroed_proportion
        return max(round(self.time_mask_max_frames * (1 - p) / p), 1)

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """Sequence, and frame from its first one; ``groups`` has a column for each pair of stretches."""
        if not self.needs_key() or not index.shape[0]:
            return RowContext(mark=np.zeros((index.shape[0], 2), np.int32), groups=np.zeros((0, 8), np.int32))
        sequences, mark = np.unique(index[:, 0], return_inverse=True)
        first = np.full(sequences.shape, NO_TIME, np.int64)
        np.minimum.at(first, mark, index[:, 1])
        frame = index[:, 1] - first[mark]
        pairs_of_stretches = 2 * int(frame.max() + 1) // max((self._kept_frames + self.time_mask_max_frames) // 2, 1)
        columns = 8 * (pairs_of_stretches // 8 + 2)
        groups = np.broadcast_to(sequences[:, None], (sequences.shape[0], columns))
        return RowContext(mark=np.stack([mark, frame], axis=1).astype(np.int32), groups=groups.astype(np.int32))

    def noise(self, key: Key, groups: Array) -> Array:
        """Ends of the stretches of each sequence: kept, zeroed, kept, ..., from a random start."""
        kept, zeroed = self._kept_frames, self.time_mask_max_frames

        def ends(key: Key) -> jax.Array:
            a, b, c = jax.random.split(key, 3)
            keep = jax.random.randint(a, (groups.shape[1],), 1, kept + 1)
            zero = jax.random.randint(b, (groups.shape[1],), 1, zeroed + 1)
            start = jax.random.randint(c, (), 0, kept + zeroed)
            return jnp.cumulative_sum(jnp.stack([keep, zero], axis=1).reshape(-1)) - start

        return _per_group(ends, key, groups[:, :1])

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Rows in use times 0 or 1."""
        if not self.needs_key():
            return x
        assert facts.mark is not None
        ends = pick(xp, facts.noise, facts.mark[:, 0])
        passed = xp.sum(ends <= facts.mark[:, 1:2], axis=1)
        return x * (passed % 2 == 0).astype(x.dtype)[:, None]

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The same mask."""
        return self.forward(np, params, dy, facts), {}


NO_TIME = np.iinfo(np.int64).max
KINDS: tuple[type[Component], ...] = (Dropout, GeneralDropout, DropoutMask, SpecAugmentTimeMask)
