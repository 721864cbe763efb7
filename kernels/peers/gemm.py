"""What PyTorch does with the products of `batch_gemm`: m rows times 16 matrices of 4096 × 4096, weights in rotation; and
with the square products of `gemm_f32`, `gemm_mma` and `gemm_hopper`.

Prints one JSON object a line: microseconds of one product, medians of 15 behind a spin, and the bandwidth of a device
copy and a memset in the same start. `python3 gemm.py`, or `python3 gemm.py square` for the square ones alone.
"""

import json
import sys

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


def squares(dtype, sizes):
    """x · wᵀ with x and w N × N, as cuBLAS gets it from PyTorch; values as in the kernels, 0 … 1."""
    for n in sizes:
        x, w = (torch.rand(n, n, device="cuda").to(dtype) for _ in range(2))
        out = torch.empty(n, n, device="cuda", dtype=dtype)
        us = median_us(lambda: torch.matmul(x, w.t(), out=out))
        found = {"what": "square " + str(dtype).removeprefix("torch."), "n": n, "us": us, "tflops": 2 * n**3 / us / 1e6}
        print(json.dumps(found), flush=True)


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
    squares(torch.bfloat16, [512, 1024, 2048, 4096, 8192])
    squares(torch.float32, [2048, 4096])
    if sys.argv[1:] == ["square"]:
        return
    streams()
    products(torch.bfloat16, 16)
    products(torch.float32, 8)


if __name__ == "__main__":
    main()
