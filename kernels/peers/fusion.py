"""What PyTorch does with the work of `elementwise_chain`, `softmax_rows`, `layer_norm_rows`, `prefix_scan`, `grid_total`,
`bias_gelu` and `launch_cost`: eager, compiled (torch.compile) and as a CUDA graph.

Prints one JSON object a line: microseconds, medians of 15 behind a spin, and the useful bandwidth; beside them the copy of
the same start. `python3 fusion.py`, or only some parts: `python3 fusion.py rows chain scan launch`.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F
from timing import median_us

N = 1 << 28
SOFTMAX = [128, 512, 2048, 8192, 32768, 65536]
LAYER_NORM = [256, 1024, 4096, 8192, 16384]


def put(what, us, n_bytes, **more):
    print(json.dumps({"what": what, **more, "us": us, "gb_per_s": n_bytes / us / 1e3}), flush=True)


def compiled(function):
    return torch.compile(function, dynamic=False)


def copy():
    x, out = torch.rand(N, device="cuda"), torch.empty(N, device="cuda")
    put("copy", median_us(lambda: out.copy_(x)), 8 * N)


def five_operators(x):
    x = x - x.max(-1, keepdim=True).values
    x = x.exp()
    return x / x.sum(-1, keepdim=True)


def rows():
    copy()
    flat = torch.rand(N, device="cuda")
    for columns in SOFTMAX:
        x = flat.view(-1, columns)
        for what, run in [
            ("softmax, five operators", five_operators),
            ("softmax, eager", lambda x: F.softmax(x, -1)),
            ("softmax, compiled", compiled(lambda x: F.softmax(x, -1))),
        ]:
            put(what, median_us(lambda: run(x)), 8 * N, columns=columns)
    for columns in LAYER_NORM:
        x = flat.view(-1, columns)
        for what, run in [
            ("layer_norm, eager", lambda x: F.layer_norm(x, x.shape[-1:])),
            ("layer_norm, compiled", compiled(lambda x: F.layer_norm(x, x.shape[-1:]))),
        ]:
            put(what, median_us(lambda: run(x)), 8 * N, columns=columns)


def chain_of(k):
    def run(x):
        for _ in range(k):
            x = x * 0.75 + 0.25
        return x

    return run


def gelu(x, w, b, r):
    return F.gelu(x * w + b, approximate="tanh") + r


def chain():
    x = torch.rand(N, device="cuda")
    for k in [1, 4, 16]:
        # A product and a sum are two operators in eager mode, one in the kernels here.
        for what, run in [("chain, eager", chain_of(k)), ("chain, compiled", compiled(chain_of(k)))]:
            put(what, median_us(lambda: run(x)), 8 * N, k=k)
    n = N // 2
    x, r = x[:n].view(-1, 1024), torch.rand(n, device="cuda").view(-1, 1024)
    w, b = torch.rand(1024, device="cuda"), torch.rand(1024, device="cuda")
    for what, run in [("bias_gelu, eager", gelu), ("bias_gelu, compiled", compiled(gelu))]:
        put(what, median_us(lambda: run(x, w, b, r)), 12 * n, n=n)


def scan():
    words = torch.randint(-(1 << 31), 1 << 31, (N,), dtype=torch.int32, device="cuda")
    numbers = torch.rand(N, device="cuda")
    for n in [1 << 20, 1 << 24, N]:
        put("cumsum, int32", median_us(lambda: torch.cumsum(words[:n], 0, dtype=torch.int32)), 8 * n, n=n)
        put("cumsum, fp32", median_us(lambda: torch.cumsum(numbers[:n], 0)), 8 * n, n=n)
        put("sum, fp32", median_us(lambda: numbers[:n].sum()), 4 * n, n=n)
        put("sum, int32", median_us(lambda: words[:n].sum(dtype=torch.int32)), 4 * n, n=n)


def host_us(run, repeats=101):
    """Median of a run from the host: calls and the wait for the last kernel."""
    samples = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        samples.append((time.perf_counter() - start) * 1e6)
    return sorted(samples)[repeats // 2]


def launch():
    """Eight operations in place, by Python one by one and as a graph."""
    for n in [1 << 12, 1 << 16, 1 << 20, 1 << 24]:
        x = torch.rand(n, device="cuda")

        def run():
            for _ in range(8):
                x.mul_(0.75)

        run()
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            run()
        for what, way in [("eight operators, eager", run), ("eight operators, graph", graph.replay)]:
            put(what, host_us(way), 8 * 8 * n, n=n)


PARTS = {"rows": rows, "chain": chain, "scan": scan, "launch": launch}

if __name__ == "__main__":
    with torch.inference_mode():
        for name in sys.argv[1:] or PARTS:
            PARTS[name]()
