"""Files of tensors: safetensors with a SHA-256 and a header that is checked."""

import hashlib
import json
from typing import Any, Final, TypeAlias

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from alphazero.network.header import FORMAT_VERSION, HEADER_LIMIT, header_of, metadata_of, refuse

JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None


# The library's own error, and torch's errors for impossible shapes.
UNREADABLE_TENSORS: Final = (
    *(safetensors.SafetensorError, AssertionError, OverflowError),
    *(RuntimeError, TypeError, ValueError),
)

RESERVED: Final = ("format", "format_version", "sha256")

NAMES_OF_TYPES: Final = {
    torch.float32: "F32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.float64: "F64",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def bytes_of_file(name: str, tensors: dict[str, Tensor], metadata: dict[str, str]) -> bytes:
    """Return tensors and texts as the bytes of one verified file, which is called `name` in errors.

    `metadata` must have a "format"; "format_version" and "sha256" are added here.

    Raises:
        CheckpointError: when the header would be too large to read.
    """
    texts = {**metadata, "format_version": str(FORMAT_VERSION)}
    texts["sha256"] = _digest(texts, tensors)
    # Written here, because the library orders its metadata at random: equal files would differ.
    header: dict[str, Any] = {"__metadata__": dict(sorted(texts.items()))}
    end = 0
    contents = []
    # Descending element sizes keep every tensor aligned.
    for key, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        contents.append(_bytes_of(tensor))
        start, end = end, end + len(contents[-1])
        kind, shape = NAMES_OF_TYPES[tensor.dtype], list(tensor.shape)
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > HEADER_LIMIT:
        refuse(name, f"its header would exceed {HEADER_LIMIT:,} bytes", "write")
    return b"".join((len(text).to_bytes(8, "little"), text, *contents))


def parse_tensors(
    data: bytes, name: str, expected_format: str
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Verify the bytes of a file; return its tensors and its other texts.

    The tensors take about as much memory again as `data`.

    Raises:
        CheckpointError: for any fault, with `name`.
    """
    header = header_of(name, data)
    texts = metadata_of(name, header, expected_format)
    if foreign := {each.get("dtype", "") for each in header.values()} - set(
        NAMES_OF_TYPES.values()
    ):
        refuse(name, f"it holds tensors of a type that is not used here ({foreign.pop()!r})")
    try:
        tensors = safetensors.torch.load(data)
    except UNREADABLE_TENSORS:
        refuse(name, "its tensors are not where its header says; it is damaged or incomplete")
    if _digest(texts, tensors) != texts["sha256"]:
        refuse(name, "its SHA-256 does not match: the file is damaged; use another copy of it")
    return tensors, {key: text for key, text in texts.items() if key not in RESERVED}


def _digest(texts: dict[str, str], tensors: dict[str, Tensor]) -> str:
    """Return the SHA-256 of every text except the hash itself, and of every tensor, in name order.

    The length of each part precedes it, so that no two contents give the same bytes.
    """
    digest = hashlib.sha256()

    def add(part: bytes | memoryview) -> None:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)

    for key, text in sorted(texts.items()):
        if key != "sha256":
            add(key.encode())
            add(text.encode())
    for name, tensor in sorted(tensors.items()):
        add(name.encode())
        add(NAMES_OF_TYPES[tensor.dtype].encode())
        add(json.dumps(list(tensor.shape)).encode())
        add(_bytes_of(tensor))
    return digest.hexdigest()


def _bytes_of(tensor: Tensor) -> memoryview:
    """Return the tensor's bytes in row-major order, without a copy if possible."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data


def check_numbers(name: str, weights: dict[str, Tensor]) -> None:
    """Raise CheckpointError when a weight is NaN or infinite, or a variance is negative."""
    for key, tensor in sorted(weights.items()):
        fault = ""
        if not bool(torch.isfinite(tensor).all()):
            fault = "NaN or infinity"
        elif key.endswith("running_var") and bool((tensor < 0).any()):
            fault = "a negative variance"
        if fault:
            refuse(name, f"weight {key!r} holds {fault}; use an earlier checkpoint", "use")
