"""Damage to saved files that checksums do not notice: every mutant is a whole zip file."""

import io
import json
import zipfile

import numpy as np

PAGE = "measure.json"
NUMBERS = (-1, 0, 1, 2, 3, 255, 65535, 2**31 - 1, -(2**31), 2**53, 2**62, -(2**62))
ODD = (
    None,
    True,
    False,
    -1,
    0,
    1,
    7,
    10**9,
    2**62,
    10**30,
    -0.5,
    1e308,
    "",
    "x",
    "number",
    [],
    {},
    [[]],
    {"$": "float", "is": "nan"},
    {"$": "float", "is": "inf"},
    {"$": "tuple", "is": []},
    {"$": "dict", "is": []},
    {"$": "again", "id": 0},
    {"$": "again", "id": 3},
    {"$": "cells", "shape": [10**12], "is": [], "id": 900},
    {"$": "cells", "shape": [0, 10**12], "is": [], "id": 900},
    {"$": "array", "at": 0, "id": 901},
    {"$": "array", "at": -1, "id": 902},
    {"$": "what", "is": 1},
    {"$": "record", "class": "Kind", "fields": {}, "id": 903},
    {"$": "slice", "is": [0, 10**18, 1]},
    {"$": "timedelta", "is": [10**12, 0, 0]},
)
DTYPES = ("int8", "uint8", "int32", "int64", "uint64", "float32", "float64", "bool", "complex128")
DTYPES += ("U3", ">i8", "M8[s]")


def unpack(path):
    """Return the page and the arrays of a saved file."""
    with zipfile.ZipFile(path) as pack:
        page = json.loads(pack.read(PAGE))
        names = [name for name in pack.namelist() if name != PAGE]
        arrays = [np.load(io.BytesIO(pack.read(f"arrays/{i}.npy"))) for i in range(len(names))]
    return page, arrays


def pack(path, page, arrays, compressed=False, extra=()):
    """Write a page and arrays with fresh checksums."""
    how = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", how) as out:
        out.writestr(PAGE, page if isinstance(page, bytes) else json.dumps(page))
        for at, array in enumerate(arrays):
            body = array
            if not isinstance(array, bytes):
                text = io.BytesIO()
                np.lib.format.write_array(text, array, allow_pickle=False)
                body = text.getvalue()
            out.writestr(f"arrays/{at}.npy", body)
        for name, body in extra:
            out.writestr(name, body)


def mutate(path, target, rng):
    """Write a damaged copy of a saved file; return what was done in words."""
    page, arrays = unpack(path)
    kind = rng.choice(["value", "value", "array", "page", "page", "page", "zip"])
    if kind in ("value", "array") and not arrays:
        kind = "page"
    done = {"value": change_value, "array": change_array, "page": change_page}.get(kind)
    if done is None:
        return change_zip(target, page, arrays, rng)
    text = done(page, arrays, rng)
    pack(target, page, arrays)
    return text


def change_value(page, arrays, rng):
    """Put odd numbers into places of an array."""
    at = int(rng.integers(len(arrays)))
    array = arrays[at] = np.array(arrays[at])
    if not array.size:
        return f"array {at} is empty"
    flat = array.reshape(-1)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(flat.size))
        with np.errstate(all="ignore"):
            if array.dtype.kind == "f":
                flat[place] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 0.5, 1e9])
            elif array.dtype.kind in "iu":
                near = int(flat[place]) + int(rng.integers(-3, 4))
                number = int(rng.choice([*NUMBERS, near, near, array.size]))
                flat[place] = np.array(number).astype(array.dtype)
            elif array.dtype.kind == "b":
                flat[place] = not flat[place]
            else:
                flat[place] = "zz"
    return f"values of array {at}"


def change_array(page, arrays, rng):
    """Change the shape, the type or the order of an array."""
    at = int(rng.integers(len(arrays)))
    array = arrays[at]
    how = int(rng.integers(10))
    if how == 0:
        arrays[at] = array[:-1] if array.ndim else array
    elif how == 1 and array.size:
        arrays[at] = np.concatenate([array, array[-1:]]) if array.ndim else array
    elif how == 2:
        arrays[at] = array.reshape(-1)
    elif how == 3:
        arrays[at] = array[None]
    elif how == 4:
        arrays[at] = np.ascontiguousarray(array.T[..., :1] if array.ndim > 1 else array[:0])
    elif how == 5:
        with np.errstate(all="ignore"):
            dtype = str(rng.choice(DTYPES))
            bad = array.dtype.kind == "U" and dtype != "U3"
            arrays[at] = array if bad else array.astype(dtype)
    elif how == 6:
        other = int(rng.integers(len(arrays)))
        arrays[at], arrays[other] = arrays[other], arrays[at]
    elif how == 7:
        arrays[at] = array[::-1].copy() if array.ndim else array
    elif how == 8:
        arrays[at] = rng.permutation(array) if array.ndim else array
    else:
        raw = bytearray(np.ascontiguousarray(array).tobytes())
        if raw and array.dtype.kind != "U":
            for _ in range(4):
                raw[int(rng.integers(len(raw)))] = int(rng.integers(256))
            values = np.frombuffer(bytes(raw), array.dtype).reshape(array.shape)
            arrays[at] = values.astype(bool) if array.dtype == bool else values
    return f"array {at}, way {how}"


def nodes(page):
    """Return (parent, key) of every place in a page."""
    found, waiting = [], [page]
    while waiting:
        one = waiting.pop()
        items = one.items() if isinstance(one, dict) else enumerate(one)
        for key, value in items:
            found.append((one, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return found


def change_page(page, arrays, rng):
    """Change the tree of the page in one or two places."""
    words = []
    for _ in range(int(rng.integers(1, 3))):
        places = nodes(page)
        parent, key = places[int(rng.integers(len(places)))]
        how = int(rng.integers(8))
        if how == 0:
            del parent[key]
        elif how == 1 and isinstance(parent, dict):
            parent[str(rng.choice(["x_", "fit", "__class__", "$", "rows_", "is"]))] = parent.pop(
                key
            )
        elif how == 2:
            other, name = places[int(rng.integers(len(places)))]
            parent[key] = json.loads(json.dumps(other[name]))
        elif how == 3:
            other, name = places[int(rng.integers(len(places)))]
            parent[key], other[name] = other[name], json.loads(json.dumps(parent[key]))
        elif how == 4 and isinstance(parent[key], int):
            parent[key] = int(parent[key]) + int(rng.integers(-2, 3))
        elif how == 5 and isinstance(parent, list):
            parent.append(json.loads(json.dumps(parent[key])))
        elif how == 6 and isinstance(parent, dict) and "class" in parent:
            named = [p["class"] for p, k in places if k == "class"]
            # a copy: an earlier way may have put a list or a mapping there
            parent["class"] = json.loads(json.dumps(named[int(rng.integers(len(named)))]))
        else:
            parent[key] = json.loads(json.dumps(ODD[int(rng.integers(len(ODD)))]))
        words.append(f"{key} way {how}")
    return "page: " + ", ".join(words)


def change_zip(target, page, arrays, rng):
    """Change what is around the page and the arrays."""
    how = int(rng.integers(8))
    if how == 0:
        pack(target, page, arrays, compressed=True)
    elif how == 1:
        pack(target, page, arrays, extra=[("more.txt", b"x")])
    elif how == 2:
        deep = b"[" * 100_000 + b"]" * 100_000
        pack(target, b'{"format": 1, "root": ' + deep + b"}", arrays)
    elif how == 3:
        page["format"] = [0, -1, True, 1.0, "1", None, 2, 10**30][int(rng.integers(8))]
        pack(target, page, arrays)
    elif how == 4:
        page["root"] = [[], {}, 3, "x", None, [page["root"]]][int(rng.integers(6))]
        pack(target, page, arrays)
    elif how == 5 and arrays:
        at = int(rng.integers(len(arrays)))
        text = io.BytesIO()
        np.lib.format.write_array(text, arrays[at], allow_pickle=False)
        body = text.getvalue()
        old = f"{arrays[at].shape}".encode()
        sizes = [b"(1000000000000,)", b"(0, 99999999999)", b"(-1,)", b"()", b"(3, 4)"]
        new = sizes[int(rng.integers(len(sizes)))]
        pad = len(new) - len(old)
        damaged = body.replace(old, new, 1).replace(b" " * max(pad, 0) + b"\n", b"\n", 1)
        arrays[at] = damaged
        pack(target, page, arrays)
    elif how == 6:
        pack(target, json.dumps(page).replace('"id"', '"id": 1, "id"', 1).encode(), arrays)
    else:
        pack(target, page, arrays[:-1])
    return f"zip, way {how}"


def damage(data, rng):
    """Return bytes with some of them changed, taken out, doubled or cut off."""
    raw = bytearray(data)
    how = int(rng.integers(6))
    for _ in range(int(rng.integers(1, 6))):
        if not raw:
            break
        at, size = int(rng.integers(len(raw))), int(rng.integers(1, 9))
        if how == 0:
            raw[at] ^= 1 << int(rng.integers(8))
        elif how == 1:
            raw[at : at + size] = rng.bytes(len(raw[at : at + size]))
        elif how == 2:
            del raw[at : at + size]
        elif how == 3:
            raw[at:at] = raw[at : at + 5 * size]
        elif how == 4:
            word = (b"\xff\xff\xff\x7f", b"\xff" * 8, b"\x00" * 8, b"[" * 40_000, b'"', b"\n,,,")
            raw[at : at + 1] = word[int(rng.integers(len(word)))]
        else:
            del raw[max(1, at) :]
            break
    return bytes(raw)
