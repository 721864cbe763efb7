"""What PyTorch does with the products of `batch_gemm`: m rows times 16 matrices of 4096 × 4096, weights in rotation.

Prints one JSON object a line: microseconds of one product, medians of 15 behind a spin, and the bandwidth of a device
copy and a memset in the same start. `python3 gemm.py`.
"""

import json

import torch
from timing import median_us

N = 4096
BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]


def products(dtype, n_mat):
    w = torch.rand(n_mat * N, N, device="cuda").to(dtype)
    for m in BATCHES:
        x = torch.rand(m, N, device="cuda").to(dtype)
        out = torch.empty(m, n_mat * N, device="cuda", dtype=dtype)
        us = median_us(lambda: torch.matmul(x, w.t(), out=out)) / n_mat
        tflops = 2 * m * N * N / us / 1e6
        print(json.dumps({"what": str(dtype).removeprefix("torch."), "m": m, "us": us, "tflops": tflops}), flush=True)


def streams():
    a = torch.rand(1 << 29, device="cuda")
    b = torch.empty_like(a)
    copy = median_us(lambda: b.copy_(a))
    fill = median_us(lambda: b.fill_(1.5))
    total = median_us(lambda: torch.sum(a))
    size = a.numel() * 4 / 1e3
    print(json.dumps({"what": "2 GiB", "copy": 2 * size / copy, "fill": size / fill, "sum": size / total}), flush=True)


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    streams()
    products(torch.bfloat16, 16)
    products(torch.float32, 8)


if __name__ == "__main__":
    main()
