"""Anything that somebody may pass as actions: right numbers in wrong kinds of objects, and wrong numbers."""

from __future__ import annotations

import decimal
import fractions
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from hypothesis import strategies as st

DTYPES = [
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.uint64),
    *(torch.bool, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    *(torch.float8_e4m3fn, torch.float8_e5m2),
]
KINDS = ["i8", ">i8", "i4", "i2", "i1", "u8", "u4", ">u2", "u1", "?", "f2", "f4", "f8", "c16", "S3", "U3", "O", "M8[s]"]


Numbers: TypeAlias = np.ndarray[Any, Any]


class Wordy:
    """An object with a very long text of many lines."""

    def __repr__(self) -> str:
        return "wordy\x1b[2J\n" * 4000


class Failing:
    """An object that fails as an array."""

    def __array__(self, *arguments: object, **named: object) -> Any:
        raise MemoryError("no array")


def _quietly(make: Callable[[Numbers], Any]) -> Callable[[Numbers], Any]:
    def quiet(numbers: Numbers) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(numbers)

    return quiet


CONTAINERS: dict[str, Callable[..., Any]] = {
    **{str(kind): lambda numbers, kind=kind: torch.from_numpy(numbers.copy()).to(kind) for kind in DTYPES},
    **{f"numpy {kind}": lambda numbers, kind=kind: numbers.astype(kind) for kind in KINDS},
    "sparse": lambda numbers: torch.from_numpy(numbers.copy()).to_sparse(),
    "sparse rows": _quietly(lambda numbers: torch.from_numpy(numbers.reshape(1, -1).copy()).to_sparse_csr()),
    "quantized": _quietly(
        lambda numbers: torch.quantize_per_tensor(torch.from_numpy(numbers).float(), 1.0, 0, torch.qint32)
    ),
    "nested": _quietly(
        lambda numbers: torch.nested.nested_tensor([torch.from_numpy(numbers.reshape(-1)), torch.zeros(2).long()])
    ),
    "meta": lambda numbers: torch.from_numpy(numbers).to("meta"),
    "expanded": lambda numbers: torch.zeros((), dtype=torch.int64).expand(numbers.shape),
    "huge": lambda numbers: torch.zeros((), dtype=torch.int64).expand(1 << 40),
    "strided": lambda numbers: torch.from_numpy(np.repeat(numbers[..., None], 2, -1))[..., 0],
    "with a gradient": lambda numbers: torch.from_numpy(numbers).double().requires_grad_(),
    "parameter": lambda numbers: torch.nn.Parameter(torch.from_numpy(numbers.copy()), requires_grad=False),
    "list": lambda numbers: numbers.tolist(),
    "tuple": lambda numbers: tuple(numbers.reshape(-1).tolist()),
    "ragged list": lambda numbers: [numbers.tolist(), [1, [2]]],
    "list of tensors": lambda numbers: [torch.tensor(number) for number in numbers.reshape(-1).tolist()],
    "set": lambda numbers: set(numbers.reshape(-1).tolist()),
    "dict": lambda numbers: dict(enumerate(numbers.reshape(-1).tolist())),
    "generator": lambda numbers: (number for number in numbers.reshape(-1).tolist()),
    "range": lambda numbers: range(numbers.size),
    "bytes": lambda numbers: numbers.tobytes(),
    "memory": lambda numbers: memoryview(numbers.tobytes()).cast("q"),
    "text": lambda numbers: str(numbers.tolist()),
    "long text": lambda numbers: "x" * 10_000,
    "one": lambda numbers: int(numbers.flat[0]) if numbers.size else 0,
    "one of numpy": lambda numbers: np.int16(3),
    "true": lambda numbers: True,
    "huge integer": lambda numbers: 10**400,
    "list of huge integers": lambda numbers: [10**30] * max(1, numbers.size),
    "decimal": lambda numbers: decimal.Decimal(1),
    "fraction": lambda numbers: fractions.Fraction(1, 2),
    "complex": lambda numbers: 1j,
    "nan": lambda numbers: float("nan"),
    "nans": lambda numbers: np.full(numbers.shape, np.nan),
    "masked": lambda numbers: np.ma.masked_array(numbers, mask=True),
    "records": lambda numbers: np.zeros(numbers.shape, dtype=[("a", "i8")]),
    "none": lambda numbers: None,
    "nones": lambda numbers: np.full(numbers.shape, None),
    "ellipsis": lambda numbers: ...,
    "type": lambda numbers: int,
    "object": lambda numbers: object(),
    "wordy": lambda numbers: Wordy(),
    "list of wordy": lambda numbers: [Wordy()] * 3,
    "failing": lambda numbers: Failing(),
}

SHAPES: dict[str, Callable[[Numbers], Numbers]] = {
    "right": lambda numbers: numbers,
    "one more axis": lambda numbers: numbers[None],
    "one more at the end": lambda numbers: numbers[..., None],
    "flat": lambda numbers: numbers.reshape(-1),
    "empty": lambda numbers: numbers[..., :0] if numbers.ndim else np.zeros(0, np.int64),
    "too many": lambda numbers: np.concatenate([numbers.reshape(-1)] * 2),
    "turned": lambda numbers: np.ascontiguousarray(numbers.T),
    "scalar": lambda numbers: np.array(numbers.flat[0] if numbers.size else 0),
}

_EDGES = [-1, -(1 << 63), (1 << 63) - 1, 1 << 31, (1 << 31) - 1, -(1 << 31), 256, 255, 65536, 1 << 32]


@dataclass(frozen=True)
class Recipe:
    """The changes that are made to legal actions: keys of `CONTAINERS` and `SHAPES`, and other numbers in some places.

    `played` steps are played before; `seed` is that of those steps and of the legal actions.
    """

    container: str
    changes: tuple[tuple[int, int], ...] = ()
    shape: str = "right"
    played: int = 0
    seed: int = 0

    def build(self, legal: Numbers) -> Any:
        """Return the hostile thing made of legal actions in the shape that is expected."""
        numbers = np.array(legal, dtype=np.int64)
        for place, number in self.changes if numbers.size else ():
            numbers.flat[place % numbers.size] = number
        with np.errstate(all="ignore"):
            return CONTAINERS[self.container](SHAPES[self.shape](numbers))


def recipes() -> st.SearchStrategy[Recipe]:
    """Return recipes: about half of them change only one thing."""
    number = st.one_of(st.integers(0, 60), st.sampled_from(_EDGES), st.integers(-(1 << 63), (1 << 63) - 1))
    return st.builds(
        Recipe,
        container=st.one_of(st.just("torch.int64"), st.just("numpy i8"), st.sampled_from(list(CONTAINERS))),
        changes=st.one_of(st.just(()), st.lists(st.tuples(st.integers(0, 30), number), max_size=3).map(tuple)),
        shape=st.one_of(st.just("right"), st.sampled_from(list(SHAPES)[1:])),
        played=st.integers(0, 6),
        seed=st.integers(0, 1000),
    )
