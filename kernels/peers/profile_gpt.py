"""A small GPT that trains for some steps: what `vramlab profile` watches when its own overhead is measured.

    python3 profile_gpt.py [--steps 20] [--snapshot FILE] [--die]

Prints one line of JSON: the median step in milliseconds (after five steps of warming up, each ended by a synchronisation),
what PyTorch's allocator says of its peak, and its segments at the end. `--die` ends the process by SIGKILL half way, as the
kernel's OOM killer would. Needs CUDA and PyTorch 2.11 or later.
"""

import argparse
import json
import os
import signal
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH, BATCH = 4, 512, 8, 16384, 512, 16
WARMING = 5


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, h = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, HEADS, h // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(b, t, h))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, x):
        x = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--snapshot")
    parser.add_argument("--die", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    if args.snapshot:
        torch.cuda.memory._record_memory_history(max_entries=200_000, stacks="python")
    model = Gpt().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randint(VOCABULARY, (BATCH, LENGTH), device="cuda")
    times = []
    for step in range(WARMING + args.steps):
        began = time.perf_counter()
        with torch.autocast("cuda", torch.bfloat16):
            scores = model(x)
        loss = F.cross_entropy(scores.float().view(-1, VOCABULARY), x.view(-1))
        del scores
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - began) * 1e3)
        if args.die and step == WARMING + args.steps // 2:
            os.kill(os.getpid(), signal.SIGKILL)
    if args.snapshot:
        torch.cuda.memory._dump_snapshot(args.snapshot)
    free, total = torch.cuda.mem_get_info()
    print(
        json.dumps(
            {
                "steps": args.steps,
                "median_ms": statistics.median(times[WARMING:]),
                "least_ms": min(times[WARMING:]),
                "most_ms": max(times[WARMING:]),
                "max_reserved": torch.cuda.max_memory_reserved(),
                "max_allocated": torch.cuda.max_memory_allocated(),
                "reserved": torch.cuda.memory_reserved(),
                "card_used": total - free,
                "segments": [[s["address"], s["total_size"]] for s in torch.cuda.memory_snapshot()],
                "loss": loss.item(),
                "torch": torch.__version__,
                "device": torch.cuda.get_device_name(),
            }
        ),
        flush=True,
    )
    # Long enough for a sample or two of the end.
    time.sleep(0.1)


if __name__ == "__main__":
    main()
