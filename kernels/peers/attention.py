"""What PyTorch takes for the attention of `attention/time`: scaled_dot_product_attention, bf16, heads side by side.

Prints one JSON object a line: microseconds of a pass and useful TFLOP/s (a causal mask halves the FLOP), medians of 15 behind
a spin, by back end, with and without mask, d = 64 and 128, and what each takes beside its inputs and its output. The data is
that of our kernels: bf16 in [0, 1) in steps of 1/256. `python3 attention.py`, or `quick` for the main shapes only.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from timing import median_us

TOKENS = [1024, 2048, 4096, 8192, 16384, 32768]
ROWS = 131072
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}


def inputs(n, heads, dim):
    make = lambda: (torch.randint(0, 256, (1, heads, n, dim), device="cuda") / 256).to(torch.bfloat16)
    return make(), make(), make()


def one(backend, n, heads, dim, causal):
    q, k, v = inputs(n, heads, dim)
    scale = 15 / math.sqrt(dim)
    run = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)
    answer = {"what": backend, "n": n, "heads": heads, "d": dim, "causal": causal}
    try:
        with sdpa_kernel(BACKENDS[backend]):
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            out = run()
            torch.cuda.synchronize()
            extra = torch.cuda.max_memory_allocated() - before - out.numel() * out.element_size()
            us = median_us(run)
    except RuntimeError as error:
        print(json.dumps({**answer, "error": str(error).splitlines()[0]}), flush=True)
        return
    flop = 4 * n * n * dim * heads / (2 if causal else 1)
    answer |= {"us": us, "us_per_head": us / heads, "tflops": flop / us / 1e6, "extra_mib": extra / 2**20}
    print(json.dumps(answer), flush=True)


def main():
    is_quick = "quick" in sys.argv[1:]
    print(json.dumps({"torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}), flush=True)
    for n in [8192] if is_quick else TOKENS:
        for causal in (True, False):
            one("flash", n, max(1, ROWS // n), 128, causal)
    for backend in ("flash", "cudnn"):
        for dim in (64, 128):
            one(backend, 8192, 16, dim, False)
    one("cudnn", 8192, 16, 128, True)
    # Three kernels and more, with the scores in memory.
    one("math", 4096, 8, 128, False)


if __name__ == "__main__":
    main()
