"""Names for the arrays of the compiler and of the reference, which are NumPy's."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int32]
"""Row numbers, row splits, or Indexes ``[rows, 3]``."""

Bools: TypeAlias = NDArray[np.bool_]

Floats: TypeAlias = NDArray[np.float32]
"""Values of rows, or their derivatives."""
