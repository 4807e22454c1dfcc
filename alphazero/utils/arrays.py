"""Types of numpy arrays, named after their contents."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

Doubles = npt.NDArray[np.float64]

Integers = npt.NDArray[np.int32]

Slots = npt.NDArray[np.int64]

Keys = npt.NDArray[np.uint64]

Masks = npt.NDArray[np.bool_]

Records = npt.NDArray[Any]
