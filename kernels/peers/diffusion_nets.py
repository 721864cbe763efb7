"""A UNet and an image decoder of Stable Diffusion 1.5's size, with random weights, written so that every tensor's life is plain
to see. Attention in one piece, by rows of batch and heads, by queries, or by PyTorch's own kernels."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

WORDS, WORD_WIDTH, GROUPS = 77, 768, 32


class Attention(nn.Module):
    """`how`: sdpa; eager; rows (`size` rows of batch and heads at a time); queries (`size` queries at a time)."""

    def __init__(self, width, heads, other=None, has_bias=False):
        super().__init__()
        self.heads, self.how, self.size = heads, "eager", 0
        self.q = nn.Linear(width, width, bias=has_bias)
        self.k = nn.Linear(other or width, width, bias=has_bias)
        self.v = nn.Linear(other or width, width, bias=has_bias)
        self.out = nn.Linear(width, width)

    def split(self, x):
        b, t, w = x.shape
        return x.view(b, t, self.heads, w // self.heads).transpose(1, 2)

    def forward(self, x, context=None):
        b, t, w = x.shape
        context = x if context is None else context
        q, k, v = self.split(self.q(x)), self.split(self.k(context)), self.split(self.v(context))
        if self.how == "sdpa":
            with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
                mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            # One matrix a row of batch and heads: copies where there is more than one head.
            q, k, v = (part.reshape(b * self.heads, part.shape[2], part.shape[3]) for part in (q, k, v))
            mixed = self.mix(q, k, v).view(b, self.heads, t, w // self.heads)
        return self.out(mixed.transpose(1, 2).reshape(b, t, w))

    def mix(self, q, k, v):
        if self.how == "eager":
            return attend(q, k, v)
        out = torch.empty_like(q)
        if self.how == "rows":
            for first in range(0, q.shape[0], self.size):
                rows = slice(first, first + self.size)
                out[rows] = attend(q[rows], k[rows], v[rows])
        else:
            for first in range(0, q.shape[1], self.size):
                part = slice(first, first + self.size)
                out[:, part] = attend(q[:, part], k, v)
        return out


def attend(q, k, v):
    """Scores are there twice while the softmax runs."""
    return torch.bmm(torch.bmm(q * q.shape[-1] ** -0.5, k.transpose(1, 2)).softmax(-1), v)


class ResBlock(nn.Module):
    def __init__(self, inputs, outputs, time=0):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(GROUPS, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs) if time else None
        self.norm2, self.conv2 = nn.GroupNorm(GROUPS, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x, time=None):
        y = self.conv1(F.silu(self.norm1(x)))
        if time is not None:
            y = y + self.time(F.silu(time))[:, :, None, None]
        y = self.conv2(F.silu(self.norm2(y)))
        return (x if self.skip is None else self.skip(x)) + y


class Transformer(nn.Module):
    """Self-attention, attention to the words, a gated feed-forward."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm, self.inward = nn.GroupNorm(GROUPS, width), nn.Conv2d(width, width, 1)
        self.norm1, self.attn1 = nn.LayerNorm(width), Attention(width, heads)
        self.norm2, self.attn2 = nn.LayerNorm(width), Attention(width, heads, WORD_WIDTH)
        self.norm3, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 8 * width), nn.Linear(4 * width, width)
        self.outward = nn.Conv2d(width, width, 1)

    def feed(self, x):
        x, gate = self.up(x).chunk(2, -1)
        return self.down(x * F.gelu(gate))

    def forward(self, x, words):
        b, c, height, width = x.shape
        y = self.inward(self.norm(x)).permute(0, 2, 3, 1).reshape(b, height * width, c)
        y = y + self.attn1(self.norm1(y))
        y = y + self.attn2(self.norm2(y), words)
        y = y + self.feed(self.norm3(y))
        y = self.outward(y.reshape(b, height, width, c).permute(0, 3, 1, 2).contiguous())
        return x + y


class Up(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class Level(nn.Module):
    """A residual block and, where words reach, a transformer."""

    def __init__(self, inputs, outputs, time, heads):
        super().__init__()
        self.res, self.attn = ResBlock(inputs, outputs, time), Transformer(outputs, heads) if heads else None

    def forward(self, x, time, words):
        x = self.res(x, time)
        return x if self.attn is None else self.attn(x, words)


class Unet(nn.Module):
    def __init__(self, widths=(320, 640, 1280, 1280), heads=8, blocks=2):
        super().__init__()
        first, time = widths[0], 4 * widths[0]
        self.first = first
        self.time1, self.time2 = nn.Linear(first, time), nn.Linear(time, time)
        self.inward = nn.Conv2d(4, first, 3, padding=1)
        self.downs, skips, x = nn.ModuleList(), [first], first
        for level, width in enumerate(widths):
            is_last = level == len(widths) - 1
            for _ in range(blocks):
                self.downs.append(Level(x, width, time, 0 if is_last else heads))
                x = width
                skips.append(x)
            if not is_last:
                self.downs.append(nn.Conv2d(x, x, 3, stride=2, padding=1))
                skips.append(x)
        self.middle1, self.middle2 = Level(x, x, time, heads), ResBlock(x, x, time)
        self.ups = nn.ModuleList()
        for level, width in reversed(list(enumerate(widths))):
            for _ in range(blocks + 1):
                self.ups.append(Level(x + skips.pop(), width, time, 0 if level == len(widths) - 1 else heads))
                x = width
            if level:
                self.ups.append(Up(x))
        self.norm, self.outward = nn.GroupNorm(GROUPS, x), nn.Conv2d(x, 4, 3, padding=1)

    def embed(self, step, dtype):
        half = self.first // 2
        speed = torch.exp(-math.log(10000.0) * torch.arange(half, device=step.device) / half)
        angle = step[:, None].float() * speed
        return self.time2(F.silu(self.time1(torch.cat((angle.cos(), angle.sin()), -1).to(dtype))))

    def forward(self, x, step, words):
        time = self.embed(step, words.dtype)
        x = self.inward(x)
        skips = [x]
        for part in self.downs:
            x = part(x, time, words) if isinstance(part, Level) else part(x)
            skips.append(x)
        x = self.middle2(self.middle1(x, time, words), time)
        for part in self.ups:
            if isinstance(part, Level):
                x = part(torch.cat((x, skips.pop()), 1), time, words)
            else:
                x = part(x)
        return self.outward(F.silu(self.norm(x)))


class MapAttention(nn.Module):
    """The decoder's one attention: a single head over all places."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.attn = nn.GroupNorm(GROUPS, width), Attention(width, 1, has_bias=True)

    def forward(self, x):
        b, c, height, width = x.shape
        y = self.attn(self.norm(x).view(b, c, height * width).transpose(1, 2).contiguous())
        return x + y.transpose(1, 2).view(b, c, height, width)


class Decoder(nn.Module):
    """Latents to pixels: eight times the edge."""

    def __init__(self, widths=(512, 512, 256, 128), blocks=3):
        super().__init__()
        self.quant, self.inward = nn.Conv2d(4, 4, 1), nn.Conv2d(4, widths[0], 3, padding=1)
        x = widths[0]
        parts = [ResBlock(x, x), MapAttention(x), ResBlock(x, x)]
        for level, width in enumerate(widths):
            for _ in range(blocks):
                parts.append(ResBlock(x, width))
                x = width
            if level < len(widths) - 1:
                parts.append(Up(x))
        self.parts = nn.ModuleList(parts)
        self.norm, self.outward = nn.GroupNorm(GROUPS, x), nn.Conv2d(x, 3, 3, padding=1)

    def forward(self, latents):
        x = self.inward(self.quant(latents))
        for part in self.parts:
            x = part(x)
        return self.outward(F.silu(self.norm(x)))


def starts(edge, tile, overlap):
    """Where the tiles of an axis begin: the last one ends at the edge."""
    if edge <= tile:
        return [0]
    count = math.ceil((edge - tile) / (tile - overlap)) + 1
    return [min(n * (tile - overlap), edge - tile) for n in range(count)]


def decode_tiled(decoder, latents, tile, overlap):
    """Tile by tile into one picture; a tile fades in over what its neighbours left in the overlap."""
    b, _, edge, _ = latents.shape
    out = torch.zeros(b, 3, 8 * edge, 8 * edge, dtype=latents.dtype, device=latents.device)
    ramp = torch.linspace(0, 1, 8 * overlap, dtype=latents.dtype, device=latents.device)
    for top in starts(edge, tile, overlap):
        for left in starts(edge, tile, overlap):
            paste(out, decoder(latents[:, :, top : top + tile, left : left + tile].contiguous()), 8 * top, 8 * left, ramp)
    return out


def paste(out, pixels, top, left, ramp):
    size, fade = pixels.shape[2], len(ramp)
    place = out[:, :, top : top + size, left : left + size]
    if left:
        pixels[:, :, :, :fade] = place[:, :, :, :fade].lerp(pixels[:, :, :, :fade], ramp)
    if top:
        pixels[:, :, :fade] = place[:, :, :fade].lerp(pixels[:, :, :fade], ramp[:, None])
    place.copy_(pixels)
