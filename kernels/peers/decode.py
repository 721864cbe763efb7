"""What PyTorch does with the shapes of `decode_attention`, `batched_decode` and `serve_steps`.

Prints one JSON object a line: medians of 15 behind a spin. `python3 decode.py`.

Attention of one new token: 32 query heads, 8 KV heads of 128, bf16, 1 GiB of cache, by scaled_dot_product_attention with
grouped heads, and by the same over a cache whose heads were repeated; then products of m tokens with 16 matrices of
4096 x 4096 by F.linear, weights in rotation.
"""

import json

import torch
import torch.nn.functional as F
from timing import median_us

HEADS, KV, D = 32, 8, 128
TOKENS = 1 << 18
COLUMNS = [1, 2, 4, 5, 8, 9, 16, 17, 32, 64, 96, 128, 192, 256, 384, 512]


def put(**row):
    print(json.dumps(row), flush=True)


def random(*shape):
    """bf16 numbers in [0, 1), a part at a time."""
    out = torch.empty(*shape, device="cuda", dtype=torch.bfloat16)
    for part in out.view(-1).split(1 << 27):
        part.copy_(torch.rand(part.numel(), device="cuda"))
    return out


def attention(length, kv):
    batch = TOKENS // length
    q = random(batch, HEADS, 1, D) - 0.5
    k, v = random(batch, kv, length, D), random(batch, kv, length, D)
    size = 2 * k.numel() * 2
    try:
        us = median_us(lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=kv != HEADS))
    except RuntimeError as error:
        put(what="sdpa", length=length, kv=kv, error=str(error).splitlines()[0][:200])
        return
    put(what="sdpa", length=length, kv=kv, batch=batch, us=us, gb_per_s=size / us / 1e3)


def grouped_by_hand(length):
    """Query heads of a KV head as rows of one product: what can be had without a kernel of one's own."""
    batch, group = TOKENS // length, HEADS // KV
    q = random(batch * KV, group, D) - 0.5
    k, v = random(batch * KV, length, D), random(batch * KV, length, D)
    size = 2 * k.numel() * 2
    us = median_us(lambda: F.scaled_dot_product_attention(q[None], k[None], v[None]))
    put(what="sdpa, group as rows", length=length, kv=KV, batch=batch, us=us, gb_per_s=size / us / 1e3)


def products():
    weights = [random(4096, 4096) for _ in range(16)]
    for m in COLUMNS:
        x = random(m, 4096)

        def run():
            for w in weights:
                F.linear(x, w)

        graph = torch.cuda.CUDAGraph()
        run()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            run()
        us = median_us(graph.replay) / len(weights)
        put(what="linear", m=m, us=us, gb_per_s=2 * 4096 * 4096 / us / 1e3, tflops=2 * m * 4096 * 4096 / us / 1e6)


def main():
    for length in [1024, 4096, 65536]:
        attention(length, KV)
        grouped_by_hand(length)
    for kv in [4, 32]:
        attention(4096, kv)
    products()


if __name__ == "__main__":
    with torch.inference_mode():
        main()
