"""Writes the vectors beside this file from ml_dtypes, NumPy and gguf (PyPI), each an implementation that is not ours.

python make.py; needs numpy, ml_dtypes 0.6, gguf 0.17 or later. Words: f32 and f64 are hexadecimal bit patterns."""

import struct

import gguf
import ml_dtypes as md
import numpy as np

rng = np.random.default_rng(20261130)
FORMATS = {
    "f16": (np.float16, 16),
    "bf16": (md.bfloat16, 16),
    "e4m3": (md.float8_e4m3fn, 8),
    "e5m2": (md.float8_e5m2, 8),
    "e3m2": (md.float6_e3m2fn, 6),
    "e2m3": (md.float6_e2m3fn, 6),
    "e2m1": (md.float4_e2m1fn, 4),
}


def word(x):
    return struct.pack(">f", np.float32(x)).hex()


def codes(values, dtype, bits):
    cast = np.asarray(values, np.float32).astype(dtype)
    return cast.view(np.uint16 if bits == 16 else np.uint8)


def floats():
    out = ["# decode FORMAT CODE F32 · encode FORMAT F32 CODE (overflow not saturated)"]
    for name, (dtype, bits) in FORMATS.items():
        all_codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
        values = all_codes.view(dtype).astype(np.float32)
        shown = all_codes if bits < 16 else all_codes[:: 997]
        for code in shown:
            value = values[code]
            out.append(f"decode {name} {code:x} {'nan' if np.isnan(value) else word(value)}")
        finite = np.unique(values[np.isfinite(values)].astype(np.float64))
        if bits == 16:
            at = rng.integers(0, len(finite) - 1, 120)
        else:
            at = np.arange(len(finite) - 1)
        middles = (finite[at] + finite[at + 1]) / 2
        points = np.concatenate([middles, np.nextafter(middles.astype(np.float32), np.float32(np.inf)),
                                 np.nextafter(middles.astype(np.float32), np.float32(-np.inf))]).astype(np.float32)
        largest = float(finite[-1])
        edge = largest + float(finite[-1] - finite[-2]) / 2
        points = np.concatenate([points, np.float32([edge, np.nextafter(np.float32(edge), np.float32(0)), -edge, largest, -largest])])
        points = points[np.isfinite(points)]
        for x, code in zip(points, codes(points, dtype, bits)):
            out.append(f"encode {name} {word(x)} {int(code):x}")
    for code in range(256):
        value = np.uint8(code).view(md.float8_e8m0fnu).astype(np.float64)
        out.append(f"decode e8m0 {code:x} {'nan' if np.isnan(value) else struct.pack('>d', value).hex()}")
    return out


def blocks():
    """MX and NVFP4 by the rules of their descriptions, their casts by ml_dtypes."""
    out = ["# mx ELEMENT E8M0 CODES VALUES · nvfp4 TENSOR_SCALE(f32) BLOCK_SCALE(e4m3) CODES VALUES"]
    for element, most, name in [(md.float4_e2m1fn, 2, "e2m1"), (md.float8_e4m3fn, 8, "e4m3"), (md.float8_e5m2, 15, "e5m2"),
                                (md.float6_e3m2fn, 4, "e3m2"), (md.float6_e2m3fn, 2, "e2m3")]:
        largest = float(md.finfo(element).max)
        for round_ in range(12):
            x = (rng.standard_normal(32) * 10.0 ** rng.integers(-6, 6)).astype(np.float32)
            if round_ % 3 == 2:
                x[rng.integers(0, 32)] *= 100
            shift = int(np.floor(np.log2(np.abs(x).max()))) - most
            scaled = np.clip(x.astype(np.float64) / 2.0**shift, -largest, largest).astype(np.float32)
            code = scaled.astype(element).view(np.uint8)
            out.append(f"mx {name} {shift + 127:x} {code.tobytes().hex()} {''.join(word(v) for v in x)}")
    for _ in range(12):
        x = (rng.standard_normal(16) * 10.0 ** rng.integers(-3, 3)).astype(np.float32)
        tensor = np.float32(np.abs(x).max() * np.float32(rng.uniform(1, 9)) / np.float32(6 * 448))
        block = np.float32(np.float64(np.abs(x).max()) / 6 / np.float64(tensor)).astype(md.float8_e4m3fn)
        by = np.float64(block.astype(np.float32)) * np.float64(tensor)
        code = np.clip(x.astype(np.float64) / by, -6, 6).astype(np.float32).astype(md.float4_e2m1fn).view(np.uint8)
        out.append(f"nvfp4 {word(tensor)} {block.view(np.uint8):x} {code.tobytes().hex()} {''.join(word(v) for v in x)}")
    return out


def gguf_blocks():
    out = ["# TYPE BYTES VALUES DECODED, blocks of 32, by gguf.quants"]
    for name in ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]:
        kind = gguf.GGMLQuantizationType[name]
        for round_ in range(10):
            x = (rng.standard_normal(32) * 10.0 ** rng.integers(-3, 3)).astype(np.float32)
            if round_ == 0:
                x[:] = 0
            if round_ == 1:
                x = np.abs(x) + 1
            if round_ == 2:
                x = -np.abs(x)
            data = gguf.quants.quantize(x.reshape(1, 32), kind)
            back = gguf.quants.dequantize(data, kind).reshape(-1)
            out.append(f"{name.lower()} {data.tobytes().hex()} {''.join(word(v) for v in x)} {''.join(word(v) for v in back)}")
    for name in ["Q4_K", "Q6_K", "Q5_K", "Q8_0"]:
        kind = gguf.GGMLQuantizationType[name]
        values, size = gguf.GGML_QUANT_SIZES[kind]
        for _ in range(2):
            data = rng.integers(0, 256, size, dtype=np.uint8)
            halves = {"Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "Q8_0": [0]}[name]
            for at in halves:
                data[at:at + 2] = np.frombuffer(np.float16(rng.uniform(0.001, 0.1)).tobytes(), np.uint8)
            back = gguf.quants.dequantize(data.reshape(1, -1), kind).reshape(-1)
            out.append(f"decode_{name.lower()} {data.tobytes().hex()} - {''.join(word(v) for v in back)}")
    return out


for name, lines in [("floats", floats()), ("blocks", blocks()), ("gguf", gguf_blocks())]:
    with open(f"{name}.txt", "w") as file:
        file.write("\n".join(lines) + "\n")
