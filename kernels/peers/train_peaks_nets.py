"""The networks that train_peaks.py measures, written so that every operation is plain to see."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint


def attend(q, k, v, how):
    """Causal attention of (batch, heads, length, width)."""
    if how == "flash":
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    length = q.shape[2]
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    hidden = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


def through(blocks, x, is_checkpointed, every=1):
    """The blocks in turn; checkpointed in groups of `every`."""
    if not is_checkpointed:
        for block in blocks:
            x = block(x)
        return x
    for first in range(0, len(blocks), every):
        group = blocks[first : first + every]

        def run(x, group=group):
            for block in group:
                x = block(x)
            return x

        x = checkpoint(group[0] if every == 1 else run, x, use_reentrant=False)
    return x


class GptBlock(nn.Module):
    def __init__(self, h, a, attn, drop):
        super().__init__()
        self.a, self.attn, self.drop = a, attn, drop
        self.ln1, self.qkv, self.proj = nn.LayerNorm(h), nn.Linear(h, 3 * h), nn.Linear(h, h)
        self.ln2, self.fc1, self.fc2 = nn.LayerNorm(h), nn.Linear(h, 4 * h), nn.Linear(4 * h, h)

    def thin(self, x):
        return F.dropout(x, self.drop) if self.drop else x

    def forward(self, x):
        b, t, h = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.a, h // self.a).permute(2, 0, 3, 1, 4)
        mixed = attend(q, k, v, self.attn)
        x = x + self.thin(self.proj(mixed.transpose(1, 2).reshape(b, t, h)))
        return x + self.thin(self.fc2(F.gelu(self.fc1(self.ln2(x)))))


class Gpt(nn.Module):
    """`net: gpt`. `tied`: the head is the embedding's weight. `drop`: dropout after proj and after fc2."""

    def __init__(self, L, h, a, V, T, attn, ckpt, tied=False, drop=0.0, every=1, **_):
        super().__init__()
        self.ckpt, self.every = ckpt, every
        self.te, self.pe = nn.Embedding(V, h), nn.Embedding(T, h)
        self.blocks = nn.ModuleList(GptBlock(h, a, attn, drop) for _ in range(L))
        self.ln, self.head = nn.LayerNorm(h), None if tied else nn.Linear(h, V, bias=False)

    def forward(self, tokens):
        x = self.te(tokens) + self.pe(torch.arange(tokens.shape[1], device=tokens.device))
        x = self.ln(through(self.blocks, x, self.ckpt, self.every))
        return F.linear(x, self.te.weight) if self.head is None else self.head(x)


class RmsNorm(nn.Module):
    """`fused`: PyTorch's own. `plain`: written out, as most model code writes it."""

    def __init__(self, h, how):
        super().__init__()
        self.how, self.weight = how, nn.Parameter(torch.ones(h))

    def forward(self, x):
        if self.how == "fused":
            return F.rms_norm(x, self.weight.shape, self.weight, 1e-5)
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


def matrix(inputs, outputs, four, bias=False):
    """A linear layer; with `four`, bitsandbytes' in 4 bits, unpacked to bfloat16 for each product."""
    if not four:
        return nn.Linear(inputs, outputs, bias=bias)
    import bitsandbytes

    return bitsandbytes.nn.Linear4bit(inputs, outputs, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4")


class Adapted(nn.Module):
    """A linear layer, without bias if not said otherwise; with `rank`, a low-rank adapter beside it."""

    def __init__(self, inputs, outputs, rank, four=False, bias=False):
        super().__init__()
        self.base = matrix(inputs, outputs, four, bias)
        self.a = nn.Linear(inputs, rank, bias=False) if rank else None
        self.b = nn.Linear(rank, outputs, bias=False) if rank else None

    def forward(self, x):
        return self.base(x) if self.a is None else self.base(x) + 2.0 * self.b(self.a(x))


class SwiGlu(nn.Module):
    def __init__(self, h, f, four, act):
        super().__init__()
        self.gate, self.up, self.down = matrix(h, f, four), matrix(h, f, four), matrix(f, h, four)
        self.act = act

    def forward(self, x):
        if self.act == "gelu":
            return self.down(F.gelu(self.gate(x), approximate="tanh") * self.up(x)), None
        return self.down(F.silu(self.gate(x)) * self.up(x)), None


class Experts(nn.Module):
    """Top-k routing with a capacity: every expert computes C rows, empty ones too, so the sizes never depend on the data."""

    def __init__(self, h, f, E, k, c):
        super().__init__()
        self.E, self.k, self.c = E, k, c
        self.router = nn.Linear(h, E, bias=False)
        self.wg, self.wu = nn.Parameter(torch.empty(E, h, f)), nn.Parameter(torch.empty(E, h, f))
        self.wd = nn.Parameter(torch.empty(E, f, h))

    @torch.no_grad()
    def places(self, chosen, capacity):
        """For each row of each expert: which (token, choice) pair lies there and whether one does; and the experts' shares."""
        hot = F.one_hot(chosen, self.E)
        place = ((hot.cumsum(0) - hot) * hot).sum(-1)
        room = self.E * capacity
        slot = torch.where(place < capacity, chosen * capacity + place, room)
        pairs = torch.arange(chosen.numel(), device=chosen.device)
        pair = torch.zeros(room + 1, dtype=torch.int64, device=chosen.device).scatter_(0, slot, pairs)[:-1]
        used = torch.zeros(room + 1, device=chosen.device).scatter_(0, slot, 1.0)[:-1]
        return pair, used, hot.sum(0) / chosen.numel()

    def forward(self, x):
        b, t, h = x.shape
        n = x.view(b * t, h)
        capacity = math.ceil(self.c * n.shape[0] * self.k / self.E)
        p = self.router(n).float().softmax(-1)
        w, e = p.topk(self.k)
        w = w / w.sum(-1, keepdim=True)
        pair, used, share = self.places(e.flatten(), capacity)
        balance = self.E * (share * p.mean(0)).sum()
        rows = n.index_select(0, pair // self.k).view(self.E, capacity, h)
        y = torch.bmm(F.silu(torch.bmm(rows, self.wg)) * torch.bmm(rows, self.wu), self.wd)
        s = w.flatten().index_select(0, pair) * used
        out = torch.zeros(n.shape[0], h, dtype=y.dtype, device=y.device)
        out = out.index_add(0, pair // self.k, y.view(self.E * capacity, h) * s[:, None].to(y.dtype))
        return out.view(b, t, h), balance


class LlamaBlock(nn.Module):
    """`hd`: a head's width where it is not h / a. `qkvb`: biases on q, k, v. `qkn`: a norm on each head of q and k. `post`: norms
    behind attention and feed-forward too. `act`: silu or gelu."""

    def __init__(self, h, a, g, f, attn, norm, rank, moe, hd=0, qkvb=False, qkn=False, post=False, act="silu", four=False):
        super().__init__()
        self.a, self.g, self.d, self.attn = a, g, hd or h // a, attn
        self.n1 = RmsNorm(h, norm)
        self.q, self.k = Adapted(h, a * self.d, rank, four, qkvb), Adapted(h, g * self.d, 0, four, qkvb)
        self.v, self.o = Adapted(h, g * self.d, rank, four, qkvb), Adapted(a * self.d, h, 0, four)
        self.qn, self.kn = (RmsNorm(self.d, norm), RmsNorm(self.d, norm)) if qkn else (None, None)
        self.p1 = RmsNorm(h, norm) if post else None
        self.n2 = RmsNorm(h, norm)
        self.ff = Experts(h, f, *moe) if moe else SwiGlu(h, f, four, act)
        self.p2 = RmsNorm(h, norm) if post else None

    def turn(self, x):
        low, high = x.chunk(2, -1)
        return x * self.cos + torch.cat((-high, low), -1) * self.sin

    def spread(self, x):
        """Each key and value head once for every query head of its group: a copy."""
        b, t, g, d = x.shape
        return x if g == self.a else x[:, :, :, None].expand(b, t, g, self.a // g, d).reshape(b, t, self.a, d)

    def heads(self, x, n, norm):
        x = x.view(*x.shape[:2], n, self.d)
        return self.turn(x if norm is None else norm(x))

    def attention(self, n):
        b, t, _ = n.shape
        q = self.heads(self.q(n), self.a, self.qn)
        k = self.heads(self.k(n), self.g, self.kn)
        v = self.v(n).view(b, t, self.g, self.d)
        mixed = attend(q.transpose(1, 2), self.spread(k).transpose(1, 2), self.spread(v).transpose(1, 2), self.attn)
        return self.o(mixed.transpose(1, 2).reshape(b, t, self.a * self.d))

    def forward(self, x):
        if self.p1 is not None:
            x = x + self.p1(self.attention(self.n1(x)))
            return x + self.p2(self.ff(self.n2(x))[0])
        x = x + self.attention(self.n1(x))
        out, balance = self.ff(self.n2(x))
        return x + out if balance is None else (x + out, balance)


class Llama(nn.Module):
    """`net: llama`, and with experts `net: moe`. RoPE's tables are two buffers that all blocks share. `scaled`: the embedding times
    the root of h. `cap`: scores through a tanh."""

    def __init__(self, L, h, a, g, f, V, T, attn, norm, ckpt, lora=0, E=0, k=0, c=1.0, every=1, tied=False, scaled=False, cap=0,
                 base="", hd=0, qkvb=False, qkn=False, post=False, act="silu", **_):
        super().__init__()
        self.ckpt, self.every, self.is_moe, self.T, self.d = ckpt, every, E > 0, T, hd or h // a
        self.h, self.scaled, self.cap = h, scaled, cap
        self.te = nn.Embedding(V, h)
        moe, more = (E, k, c) if E else None, (hd, qkvb, qkn, post, act, base == "nf4")
        self.blocks = nn.ModuleList(LlamaBlock(h, a, g, f, attn, norm, lora, moe, *more) for _ in range(L))
        self.norm, self.head = RmsNorm(h, norm), None if tied else nn.Linear(h, V, bias=False)
        if lora:
            for name, weight in self.named_parameters():
                weight.requires_grad_(name.endswith((".a.weight", ".b.weight")))

    def make_tables(self, dtype):
        """After the parameters, in the dtype of the computation; made on the processor so that nothing else is allocated."""
        speed = 10000.0 ** (-torch.arange(0, self.d, 2).float() / self.d)
        angle = torch.arange(self.T).float()[:, None] * speed
        angle = torch.cat((angle, angle), -1)[:, None]
        self.cos, self.sin = angle.cos().to(dtype).cuda(), angle.sin().to(dtype).cuda()
        for block in self.blocks:
            block.cos, block.sin = self.cos, self.sin

    def score(self, x):
        y = F.linear(x, self.te.weight) if self.head is None else self.head(x)
        return torch.tanh(y / self.cap) * self.cap if self.cap else y

    def forward(self, tokens):
        x, balance = self.te(tokens), []
        if self.scaled:
            x = x * self.h**0.5
        if not self.is_moe:
            return self.score(self.norm(through(self.blocks, x, self.ckpt, self.every)))
        for block in self.blocks:
            x, one = checkpoint(block, x, use_reentrant=False) if self.ckpt else block(x)
            balance.append(one)
        return self.score(self.norm(x)), balance


def fill(model):
    with torch.no_grad():
        for weight in model.parameters():
            if weight.is_floating_point():
                weight.normal_(0, 0.02) if weight.dim() > 1 else weight.zero_()
        for part in model.modules():
            if isinstance(part, (nn.LayerNorm, RmsNorm)):
                part.weight.fill_(1)


def empty(kind, cfg, is_fake):
    """The model on the device without a copy in host memory. A fake model cannot be moved or converted: it is born as it ends."""
    if not is_fake:
        with torch.device("meta"):
            model = kind(**cfg)
        return model.to_empty(device="cuda")
    torch.set_default_dtype(torch.bfloat16 if cfg["dtype"] == "bf16" else torch.float32)
    with torch.device("cuda"):
        model = kind(**cfg)
    torch.set_default_dtype(torch.float32)
    return model


def pack(kind, cfg):
    """With weights in 4 bits the model is made in host memory and quantized as it moves."""
    model = kind(**cfg)
    fill(model)
    return (model.bfloat16() if cfg["dtype"] == "bf16" else model).cuda()


def build(cfg, is_fake=False):
    """The model on the device, float32 first, and a function that makes the inputs."""
    if cfg["net"] == "resnet50":
        return build_resnet50(cfg, is_fake)
    if cfg.get("base") == "nf4":
        model = pack(Llama, cfg)
        model.make_tables(torch.bfloat16)
        return model, lambda: (torch.randint(0, cfg["V"], (cfg["b"], cfg["T"]), device="cuda"),) * 2
    model = empty(Gpt if cfg["net"] == "gpt" else Llama, cfg, is_fake)
    if not is_fake:
        fill(model)
        model = model.bfloat16() if cfg["dtype"] == "bf16" else model
    if cfg["net"] != "gpt":
        model.make_tables(torch.float32 if cfg["dtype"] == "fp32" else torch.bfloat16)
    return model, lambda: (torch.randint(0, cfg["V"], (cfg["b"], cfg["T"]), device="cuda"),) * 2


def build_resnet50(cfg, is_fake):
    import torchvision

    if is_fake:
        with torch.device("cuda"):
            model = torchvision.models.resnet50(weights=None)
    else:
        model = torchvision.models.resnet50(weights=None).cuda()
    is_last = cfg["layout"] == "channels_last"
    if is_last and not is_fake:
        model = model.to(memory_format=torch.channels_last)

    def inputs():
        images = torch.randn(cfg["b"], 3, 224, 224, device="cuda")
        images = images.contiguous(memory_format=torch.channels_last) if is_last else images
        return images, torch.randint(0, 1000, (cfg["b"],), device="cuda")

    return model, inputs
