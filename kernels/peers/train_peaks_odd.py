"""Configurations beside the beaten track: sizes that divide nothing, the smallest of everything, 8-bit states, 4-bit weights, and
blocks as Qwen and Gemma have them."""

from train_peaks_list import FP32, GPT, LLAMA, MOE, RESNET


def gpt():
    yield {"T": 777, "b": 3}
    yield {"T": 129, "b": 7, "V": 50257}
    yield {"T": 2049, "b": 1, "V": 50257}
    yield {"h": 320, "a": 5, "L": 3}
    yield {"h": 320, "a": 8, "V": 32003, "dtype": "bf16"}
    yield {"h": 520, "a": 5, "T": 300}
    yield {"h": 96, "a": 8, "L": 2, "b": 16}
    yield {"V": 3}
    yield {"V": 65537, "b": 2, "T": 333}
    yield {"L": 1, "b": 64}
    yield {"L": 24, "h": 128, "a": 2, "b": 3}
    yield {"T": 1, "b": 5}
    yield FP32 | {"T": 100, "b": 5}
    yield {"attn": "math", "T": 333, "b": 1}
    yield {"attn": "math", "T": 517, "b": 3, "dtype": "bf16", "V": 1001}
    yield {"drop": 0.1, "ckpt": True, "b": 5}
    yield {"tied": True, "accum": 3, "b": 2}
    yield {"ckpt": True, "every": 5, "L": 6, "V": 1000}
    yield {"opt": "sgdm", "accum": 5, "zero": "fill", "dtype": "bf16"}
    yield {"opt": "adamw8"}
    yield {"opt": "adamw8", "dtype": "bf16", "V": 50257}
    yield {"opt": "adamw8", "h": 1024, "a": 16, "L": 8, "ckpt": True}


def llama():
    yield {"h": 576, "a": 9, "g": 3, "f": 1536, "V": 49152, "dtype": "bf16", "L": 8, "b": 3}
    yield {"f": 1365, "T": 1000, "b": 1}
    yield {"h": 320, "a": 5, "g": 5, "f": 851, "T": 511, "b": 1, "V": 1003, "dtype": "bf16"}
    yield {"h": 4096, "a": 32, "g": 8, "f": 14336, "L": 2, "V": 128256, "T": 513, "b": 1, "dtype": "bf16"}
    yield {"tied": True, "g": 2}
    yield {"opt": "adamw8", "dtype": "bf16", "g": 2}
    yield {"lora": 16, "dtype": "bf16", "opt": "adamw8", "T": 300}
    for qwen in ({"qkvb": True, "g": 2}, {"qkn": True, "hd": 128, "g": 2}):
        yield qwen | {"dtype": "bf16"}
        yield qwen | {"tied": True}
    for gemma in ({"hd": 96, "act": "gelu", "tied": True, "scaled": True, "g": 1},
                  {"hd": 128, "act": "gelu", "tied": True, "scaled": True, "g": 4, "post": True, "cap": 30.0},
                  {"hd": 128, "act": "gelu", "tied": True, "scaled": True, "g": 4, "post": True, "qkn": True}):
        yield gemma | {"dtype": "bf16"}
        yield gemma
        yield gemma | {"ckpt": True, "norm": "plain", "dtype": "bf16", "b": 16}


def packed():
    """QLoRA: blocks in NF4, adapters on q and v."""
    base = {"lora": 16, "base": "nf4", "dtype": "bf16"}
    yield base
    yield base | {"dtype": "amp"}
    yield base | {"ckpt": True, "b": 16}
    yield base | {"h": 2048, "a": 16, "g": 4, "f": 5632, "L": 4, "V": 32000, "T": 1024, "b": 4}
    yield base | {"h": 2048, "a": 16, "g": 4, "f": 5632, "L": 4, "V": 32000, "T": 1023, "b": 1, "opt": "adamw8"}
    yield base | {"h": 576, "a": 9, "g": 3, "f": 1536, "T": 300, "b": 3, "norm": "plain"}


def moe():
    yield {"E": 3, "c": 1.1, "T": 301, "b": 3}
    yield {"E": 64, "k": 6, "f": 256, "dtype": "bf16"}
    yield {"E": 5, "k": 1, "ckpt": True, "dtype": "bf16", "b": 3}
    yield {"E": 8, "k": 2, "dtype": "bf16", "g": 2, "qkn": True, "hd": 128}


def resnet50():
    yield {"b": 1}
    yield {"b": 7}
    yield {"b": 33, "dtype": "amp", "layout": "channels_last"}
    yield {"b": 1, "dtype": "amp", "layout": "channels_last"}


def small():
    """Those whose every allocator event is recorded."""
    gpt = GPT | {"L": 2, "h": 256, "a": 4, "V": 1000, "T": 256, "b": 4}
    llama = LLAMA | {"L": 2, "h": 256, "a": 4, "g": 2, "f": 704, "V": 1000, "T": 256, "b": 4, "dtype": "bf16"}
    yield from (gpt | change for change in ({"opt": "adamw8"}, {"opt": "adamw8", "dtype": "bf16"}, {"h": 96, "a": 8}, {"T": 1, "b": 5},
                                            {"V": 3}, {"T": 129, "b": 7, "V": 1003}))
    for change in ({"tied": True}, {"qkvb": True}, {"qkn": True, "hd": 128}, {"hd": 96, "act": "gelu", "scaled": True, "tied": True},
                   {"post": True}, {"cap": 30.0}, {"post": True, "qkn": True, "hd": 128, "norm": "plain"}):
        yield llama | change
        yield llama | change | {"dtype": "amp"}
    for change in ({}, {"dtype": "amp"}, {"ckpt": True}, {"opt": "adamw8"}):
        yield llama | {"lora": 8, "base": "nf4"} | change
    yield llama | {"post": True, "ckpt": True}
    yield llama | {"net": "moe", "E": 4, "k": 2, "c": 1.25, "qkn": True, "hd": 128}


SMALL_ODD = list(small())
ODD = [base | change for base, changes in ((GPT, gpt), (LLAMA, llama), (LLAMA, packed), (MOE, moe), (RESNET, resnet50))
       for change in changes()]
