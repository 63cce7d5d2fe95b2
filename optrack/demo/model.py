"""A miniature language model, split over ranks: each holds some columns of every layer's matrix.

Weights and activations are small whole numbers held as floats (4 bits' worth), so every sum is exact and the
text doesn't depend on the order in which the ranks' parts are added up.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from optrack.demo.text import VOCABULARY

Floats = npt.NDArray[np.float32]

HIDDEN = 512
_LIMIT = 7
_SPREAD = 4.3  # the standard deviation of a whole number from -7 to 7


class Model:
    """A rank's share of the model and the state of the one sequence it is working on."""

    def __init__(self, rank: int, ranks: int, layers: int, buffer: Floats) -> None:
        """Makes the weights, the same in every launch; `buffer` is where a layer's product is summed up."""
        random = np.random.default_rng(20260727)

        def matrix(rows: int) -> Floats:
            return random.integers(-_LIMIT, _LIMIT, (rows, HIDDEN), endpoint=True).astype(np.float32)

        columns = np.array_split(np.arange(HIDDEN), ranks)[rank]
        self._embedding = matrix(len(VOCABULARY))
        self._layers = [np.ascontiguousarray(matrix(HIDDEN)[:, columns]) for _ in range(layers)]
        self._state = np.zeros(HIDDEN, np.float32)
        self._share = self._state[columns[0] : columns[-1] + 1]
        self._product = buffer[:HIDDEN]
        # Brings the spread of a layer's output, a sum of so many products, back to that of its input.
        self._scale = np.float32(1 / (HIDDEN**0.5 * _SPREAD))

    @property
    def nbytes(self) -> int:
        """The memory that this rank's weights take, in bytes."""
        return self._embedding.nbytes + sum(layer.nbytes for layer in self._layers)

    def read(self, prompt: Sequence[int]) -> None:
        """Starts a new sequence: the state becomes a digest of the prompt's tokens."""
        self._state[:] = 0
        for token in prompt:
            self._state[:] = np.roll(self._state, 1)
            self._state += self._embedding[token]
            self._quantise()

    def step(self, all_reduce: Callable[[], None]) -> int:
        """Decodes one token, in each layer a small product and an all-reduce; all ranks come to the same."""
        for layer in self._layers:
            np.dot(layer, self._share, out=self._product)
            all_reduce()
            np.multiply(self._product, self._scale, out=self._state)
            self._quantise()
        token = int(np.argmax(self._embedding @ self._state))
        self._state += self._embedding[token]
        self._quantise()
        return token

    def _quantise(self) -> None:
        np.rint(self._state, out=self._state)
        np.maximum(self._state, -_LIMIT, out=self._state)
        np.minimum(self._state, _LIMIT, out=self._state)
