"""PyTorch beside the course's chain and its GEMV: peaks of a chain of layers under torch.utils.checkpoint, counted in
activations, and the time of one pass over bf16 weights. Prints one JSON object a line."""

import json

import torch
from timing import median_us
from torch.utils.checkpoint import checkpoint

N_LAYERS = 64
SLOT = 8 << 20


class Layer(torch.autograd.Function):
    """A layer that needs its input in backward and nothing else."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * (1.0 + 1.0 / 8192.0 - x / 8192.0)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (1.0 + 1.0 / 8192.0 - x / 4096.0)


def segment(x, n):
    for _ in range(n):
        x = Layer.apply(x)
    return x


def peak(k, early_stop):
    """Peak of a step above its start, in activations; no input gradient is kept by the caller."""
    torch.cuda.synchronize()
    start = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    x = torch.rand(SLOT // 4, device="cuda", requires_grad=True)
    y = x
    for first in range(0, N_LAYERS, k):
        n = min(k, N_LAYERS - first)
        if k == 1:
            y = segment(y, n)
        else:
            y = checkpoint(segment, y, n, use_reentrant=False, early_stop=early_stop, preserve_rng_state=False)
    y.sum().backward()
    torch.cuda.synchronize()
    most = torch.cuda.max_memory_allocated() - start
    gradient = x.grad.clone()
    return most / SLOT, gradient


def chain():
    torch.manual_seed(1)
    for k in (1, 2, 4, 8, 11, 16, 32, 64):
        torch.manual_seed(1)
        slots, gradient = peak(k, True)
        torch.manual_seed(1)
        late, _ = peak(k, False)
        torch.manual_seed(1)
        _, kept = peak(1, True)
        same = torch.equal(gradient, kept)
        print(json.dumps({"chain": k, "slots": round(slots, 3), "without_early_stop": round(late, 3), "same": same}), flush=True)


def gemv():
    flush = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")
    w = torch.rand(131072, 4096, dtype=torch.float32, device="cuda").to(torch.bfloat16)
    x = torch.rand(64, 4096, device="cuda").to(torch.bfloat16)
    for _ in range(20):
        torch.nn.functional.linear(x, w)
    us = median_us(lambda: torch.mv(w, x[0]), before=lambda: flush.fill_(1))
    print(json.dumps({"gemv": "torch.mv", "batch": 1, "us": us}), flush=True)
    for m in (1, 8, 16, 64):
        rows = x[:m].contiguous()
        us = median_us(lambda rows=rows: torch.nn.functional.linear(rows, w), before=lambda: flush.fill_(1))
        print(json.dumps({"gemv": "linear", "batch": m, "us": us}), flush=True)


def casts():
    flush = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")
    x = torch.rand(1 << 28, device="cuda")
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e4m3fn):
        out = torch.empty(x.shape, dtype=dtype, device="cuda")
        for _ in range(3):
            out.copy_(x)
        ps = median_us(lambda out=out: out.copy_(x), before=lambda: flush.fill_(1)) * 1e6 / x.numel()
        print(json.dumps({"cast": str(dtype), "ps": ps}), flush=True)


if __name__ == "__main__":
    chain()
    gemv()
    casts()
