"""Losses, gradients and updated parameters of small nets by PyTorch, for app/train/tests/vectors.rs.

Run with any PyTorch 2.x: python3 vectors.py > vectors.json. The seeded numbers are made here anew (SplitMix64).
"""
import json
import math

import torch
import torch.nn.functional as F

MASK = (1 << 64) - 1


class Seeded:
    def __init__(self, seed, stream):
        self.state = (seed ^ (stream * 0xD1342543DE82EF95)) & MASK

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def even(self):
        return (self.word() >> 41) / (1 << 22) - 1.0


def single(value):
    return torch.tensor(value, dtype=torch.float64).to(torch.float32).to(torch.float64).item()


def shapes(w):
    d, one = w["width"], []
    if w["net"] == "mlp":
        layer = [((d, d), d), ((d,), d)]
    else:
        layer = [("one", d), ("shift", d), ((d, 3 * d), d), ((3 * d,), d), ((d, d), d), ((d,), d)]
        layer += [("one", d), ("shift", d), ((d, 4 * d), d), ((4 * d,), d), ((4 * d, d), 4 * d), ((d,), 4 * d)]
    one = layer * w["n_layers"]
    if w["net"] == "block":
        one += [("one", d), ("shift", d)]
    return one + [((d, w["n_classes"]), d), ((w["n_classes"],), d)]


def params(w, dtype):
    made = []
    for idx, (shape, fan) in enumerate(shapes(w)):
        seeded = Seeded(w["seed"], idx + 1)
        if shape == "one":
            values = torch.ones(fan, dtype=torch.float64)
        else:
            most = 0.1 if shape == "shift" else 1.0 / math.sqrt(fan)
            shape = (fan,) if shape == "shift" else shape
            n = math.prod(shape)
            values = torch.tensor([single(seeded.even() * most) for _ in range(n)], dtype=torch.float64).reshape(shape)
        made.append(values.to(dtype).requires_grad_())
    return made


def samples(w, dtype):
    x, classes = [], []
    for sample in range(w["batch"]):
        seeded = Seeded(w["seed"], (1 << 32) + sample)
        x.append([[seeded.even() for _ in range(w["width"])] for _ in range(w["seq_len"])])
        classes += [seeded.word() % w["n_classes"] for _ in range(w["seq_len"])]
    return torch.tensor(x, dtype=torch.float64).to(dtype), torch.tensor(classes)


def forward(w, p, x):
    d, h = w["width"], w["n_heads"]
    at = 0
    for _ in range(w["n_layers"]):
        if w["net"] == "mlp":
            x = F.gelu(x @ p[at] + p[at + 1], approximate="tanh")
            at += 2
            continue
        n = F.layer_norm(x, (d,), p[at], p[at + 1])
        qkv = n @ p[at + 2] + p[at + 3]
        q, k, v = (t.reshape(*t.shape[:2], h, d // h).transpose(1, 2) for t in qkv.split(d, dim=-1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        a = a.transpose(1, 2).reshape(x.shape)
        x = x + a @ p[at + 4] + p[at + 5]
        n = F.layer_norm(x, (d,), p[at + 6], p[at + 7])
        x = x + F.gelu(n @ p[at + 8] + p[at + 9], approximate="tanh") @ p[at + 10] + p[at + 11]
        at += 12
    if w["net"] == "block":
        x = F.layer_norm(x, (d,), p[at], p[at + 1])
        at += 2
    return x @ p[at] + p[at + 1]


def case(w):
    dtype = {"fp32": torch.float32, "fp64": torch.float64}[w["dtype"]]
    p = params(w, dtype)
    x, classes = samples(w, dtype)
    if w["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(p, lr=0.05)
    else:
        optimizer = torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    losses, gradients = [], []
    for step in range(w["n_steps"]):
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(w, p, x).reshape(-1, w["n_classes"]), classes)
        loss.backward()
        if step == 0:
            gradients = [t.grad.flatten().tolist() for t in p]
        optimizer.step()
        losses.append(loss.item())
    return {"work": w, "losses": losses, "gradients": gradients, "params": [t.detach().flatten().tolist() for t in p]}


BASE = {"n_layers": 2, "width": 8, "n_heads": 2, "seq_len": 5, "batch": 4, "n_classes": 7, "seed": 11, "n_steps": 3}
cases = [
    case({"net": net, **BASE, "dtype": dtype, "optimizer": optimizer})
    for net in ("mlp", "block")
    for dtype, optimizer in (("fp64", "adamw"), ("fp64", "sgd"), ("fp32", "adamw"))
]
print(json.dumps({"made_by": f"PyTorch {torch.__version__}", "cases": cases}))
