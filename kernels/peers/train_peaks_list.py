"""The configurations that train_peaks.py measures: batch, length, width, precision, attention and more, swept."""

GPT = {"net": "gpt", "L": 6, "h": 512, "a": 8, "V": 16000, "T": 512, "b": 8,
       "attn": "flash", "ckpt": False, "dtype": "amp", "opt": "adamw"}
LLAMA = {"net": "llama", "L": 6, "h": 512, "a": 8, "g": 8, "f": 1408, "V": 16000, "T": 512, "b": 8,
         "attn": "flash", "norm": "fused", "ckpt": False, "dtype": "amp", "opt": "adamw"}
MOE = LLAMA | {"net": "moe", "L": 4, "f": 1024, "E": 8, "k": 2, "c": 1.25}
RESNET = {"net": "resnet50", "b": 32, "dtype": "fp32", "layout": "contiguous", "opt": "sgdm"}
FP32 = {"dtype": "fp32", "attn": "math"}


def gpt():
    yield from ({"b": b} for b in (1, 4, 16, 32))
    yield from ({"T": t, "b": 4} for t in (128, 1024, 2048, 4096))
    yield {"T": 1000, "b": 3}
    yield from (FP32 | {"T": 256, "b": b} for b in (1, 4, 16))
    yield FP32 | {"T": 1024, "b": 2, "V": 1000}
    yield {"attn": "math", "T": 256}
    yield {"attn": "math", "T": 1024, "b": 2, "V": 1000}
    yield {"attn": "math", "dtype": "bf16", "T": 512, "b": 4}
    yield from ({"dtype": "bf16", "b": b} for b in (2, 8, 32))
    yield from ({"ckpt": True, "b": b} for b in (8, 32))
    yield {"ckpt": True, "dtype": "bf16", "b": 16, "L": 12}
    yield {"ckpt": True, "attn": "math", "T": 1024, "b": 4, "V": 500}
    yield FP32 | {"ckpt": True, "T": 256}
    yield {"V": 1000, "h": 1024, "a": 16, "L": 8}
    yield {"V": 50257, "h": 768, "a": 12, "L": 12, "T": 1024, "b": 8}
    yield {"opt": "sgd"}
    yield {"opt": "sgdm", "dtype": "bf16"}
    yield {"h": 2048, "a": 16, "L": 4, "V": 32000, "T": 1024, "b": 2}
    yield {"tied": True}
    yield {"tied": True, "dtype": "bf16", "V": 50257}
    yield {"drop": 0.1}
    yield {"drop": 0.1, "dtype": "bf16", "ckpt": True}
    yield from ({"ckpt": True, "every": k, "L": 8, "V": 1000, "b": 16} for k in (2, 4))
    yield from ({"accum": n, "b": 4} for n in (2, 4))
    yield {"dtype": "bf16", "master": True}
    yield {"dtype": "bf16", "zero": "fill"}
    yield {"foreach": False}
    yield {"fused": True}


def llama():
    yield from ({"b": b} for b in (1, 4, 8, 16))
    yield from ({"T": t, "b": 4} for t in (128, 1024, 2048))
    yield from ({"g": g} for g in (4, 2, 1))
    yield from ({"norm": "plain", "dtype": d} for d in ("amp", "bf16"))
    yield from ({"dtype": "bf16", "g": 2, "b": b} for b in (2, 16))
    yield FP32 | {"T": 256}
    yield FP32 | {"T": 256, "g": 2, "norm": "plain"}
    yield {"attn": "math", "T": 256, "g": 2}
    yield {"ckpt": True, "b": 16}
    yield {"ckpt": True, "dtype": "bf16", "g": 2, "b": 32}
    yield {"h": 2048, "a": 16, "g": 4, "f": 5632, "L": 4, "V": 32000, "T": 2048, "b": 2, "dtype": "bf16"}
    yield {"opt": "sgd", "V": 1000}
    yield {"ckpt": True, "every": 3, "dtype": "bf16", "b": 16}
    yield {"lora": 16}
    yield {"lora": 16, "dtype": "bf16"}
    yield {"lora": 64, "dtype": "bf16", "g": 2}
    yield {"lora": 8, "dtype": "bf16", "ckpt": True, "norm": "plain"}
    yield FP32 | {"lora": 16, "T": 256}
    yield {"lora": 16, "dtype": "bf16", "h": 2048, "a": 16, "g": 4, "f": 5632, "L": 4, "V": 32000, "T": 1024, "b": 4}


def moe():
    yield {}
    yield {"b": 2}
    yield {"k": 1, "c": 1.0}
    yield {"c": 2.0, "dtype": "bf16"}
    yield {"dtype": "bf16"}
    yield {"ckpt": True, "b": 16}
    yield FP32 | {"T": 256}
    yield {"E": 16, "k": 4, "f": 512, "g": 2}
    yield {"norm": "plain", "T": 1024, "b": 4}


def resnet50():
    yield from ({"b": b} for b in (8, 16, 32, 64))
    yield from ({"b": b, "dtype": "amp", "layout": "channels_last"} for b in (8, 16, 32, 64))
    yield {"opt": "sgd", "b": 24}
    yield {"opt": "adamw", "b": 24, "dtype": "amp", "layout": "channels_last"}


def small():
    """Those whose every allocator event is recorded."""
    gpt = GPT | {"L": 2, "h": 256, "a": 4, "V": 1000, "T": 256, "b": 4}
    llama = LLAMA | {"L": 2, "h": 256, "a": 4, "g": 2, "f": 704, "V": 1000, "T": 256, "b": 4, "dtype": "bf16", "norm": "plain"}
    moe = llama | {"net": "moe", "E": 4, "k": 2, "c": 1.25}
    for change in ({}, {"ckpt": True}, {"drop": 0.1}, {"tied": True}, {"opt": "sgdm"}, {"accum": 2}, {"dtype": "bf16", "master": True},
                   {"dtype": "bf16", "zero": "fill"}, {"foreach": False}, {"fused": True}, {"ckpt": True, "every": 2}):
        yield gpt | change
    for change in ({}, {"norm": "fused"}, {"dtype": "amp"}, {"dtype": "amp", "norm": "fused"}, FP32, {"ckpt": True}, {"lora": 8},
                   {"lora": 8, "dtype": "amp"}, {"lora": 8, "ckpt": True}):
        yield llama | change
    yield moe
    yield moe | {"dtype": "amp"}
    yield from (gpt | {"L": 1} | change for change in ({"T": 1024, "b": 1}, {"dtype": "bf16", "V": 2000, "T": 1024, "b": 8},
                                                       {"h": 64, "a": 1, "V": 256, "T": 1024, "b": 96}, FP32 | {"b": 1}))
    yield llama | {"dtype": "amp", "norm": "fused", "g": 1}
    yield moe | {"ckpt": True}
    yield llama | {"L": 1, "T": 4096, "b": 1}
    yield RESNET | {"b": 8}
    yield RESNET | {"b": 32}
    yield RESNET | {"b": 8, "dtype": "amp", "layout": "channels_last"}


SMALL = list(small())
CONFIGS = [base | change for base, changes in ((GPT, gpt), (LLAMA, llama), (MOE, moe), (RESNET, resnet50)) for change in changes()]
