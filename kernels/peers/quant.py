"""What PyTorch has beside `quant_gemv` and `sparse_24`: products with bf16, fp8, int4, int8 and 2:4 weights, and topk.

Prints one JSON object a line: microseconds, medians of 15 behind a spin; what this version does not have says why.
`python3 quant.py`.
"""

import json

import torch
import torch.nn.functional as F
from timing import median_us


def say(what, make, **more):
    try:
        us = median_us(make())
        print(json.dumps({"what": what, "us": us, **more}), flush=True)
    except Exception as error:
        print(json.dumps({"what": what, "error": str(error).splitlines()[0][:160], **more}), flush=True)


def weights(rows, cols):
    return torch.randn(rows, cols, device="cuda", dtype=torch.bfloat16)


def inputs(m, cols):
    return torch.randn(m, cols, device="cuda", dtype=torch.bfloat16)


def gemv():
    for rows in (16384, 65536):
        w, x = weights(rows, 16384), inputs(1, 16384)
        say("linear bf16", lambda: lambda: F.linear(x, w), rows=rows, cols=16384, m=1)


def int4(w, m):
    rows, cols = w.shape
    codes = torch.randint(0, 256, (rows, cols // 2), device="cuda", dtype=torch.uint8)
    packed = torch._convert_weight_to_int4pack(codes, 8)
    scales = torch.rand(cols // 128, rows, 2, device="cuda", dtype=torch.bfloat16)
    x = inputs(m, cols)
    return lambda: torch._weight_int4pack_mm(x, packed, 128, scales)


def int8(w, m):
    rows, cols = w.shape
    codes = torch.randint(-128, 128, (rows, cols), device="cuda", dtype=torch.int8)
    scales = torch.rand(rows, device="cuda", dtype=torch.bfloat16)
    x = inputs(m, cols)
    return lambda: torch._weight_int8pack_mm(x, codes, scales)


def fp8(w, m):
    one = torch.ones((), device="cuda")
    b = w.to(torch.float8_e4m3fn).t()
    a = inputs(m, w.shape[1]).to(torch.float8_e4m3fn)
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def sparse(w, m):
    tiles = w.view(w.shape[0], -1, 4)
    keep = tiles.abs().topk(2, dim=-1).indices
    pruned = torch.zeros_like(tiles).scatter(-1, keep, tiles.gather(-1, keep)).view_as(w)
    packed = torch.sparse.to_sparse_semi_structured(pruned)
    x = inputs(max(m, 16), w.shape[1])
    return lambda: F.linear(x, packed)


def batch():
    w = weights(65536, 4096)
    for m in (1, 16, 64, 256):
        x = inputs(m, 4096)
        say("linear bf16", lambda: lambda: F.linear(x, w), rows=65536, cols=4096, m=m)
    for m in (16, 64, 256):
        say("scaled_mm e4m3", lambda: fp8(w, m), m=m)
    for m in (1, 16, 256):
        say("int4pack_mm g128", lambda: int4(w, m), m=m)
    say("int8pack_mm", lambda: int8(w, 1), m=1)
    # A quarter of the rows, pruned and packed by torch itself.
    part = w[:16384].contiguous()
    for m in (16, 256):
        say("linear 2:4", lambda: sparse(part, m), rows=16384, m=m)
        say("linear bf16", lambda: (lambda x: lambda: F.linear(x, part))(inputs(m, 4096)), rows=16384, cols=4096, m=m)


def largest():
    values = torch.randn(1 << 26, device="cuda")
    for share in (0.001, 0.01):
        k = int(values.numel() * share)
        say("topk of 64 Mi", lambda: lambda: torch.topk(values, k, sorted=False), k=k)


def main():
    print(json.dumps({"torch": torch.__version__}))
    gemv()
    batch()
    largest()


if __name__ == "__main__":
    main()
