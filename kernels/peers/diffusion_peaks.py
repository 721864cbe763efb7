"""Memory of a Stable-Diffusion-sized UNet step and of decoding its picture: what PyTorch's allocator holds at most.

    python3 diffusion_peaks.py FOLDER   every configuration below, into FOLDER/peaks.json and FOLDER/events.json.gz
    python3 diffusion_peaks.py '{…}'    one configuration, to standard output

The model and its inputs are made, one call of the same kind warms the libraries up, the cache is emptied, the peak is reset,
the call is measured. Figures are bytes above what the process held before the model; `reserved` is all of it. Needs CUDA and
PyTorch 2.11 or later.
"""

import gc
import gzip
import json
import os
import sys

import torch
import torch.nn.functional as F

import diffusion_nets as nets
from train_peaks import device_trace, run_all, warm_up, LETTERS

UNET = {"part": "unet", "edge": 64, "b": 2, "dtype": "fp16", "attn": "eager"}
VAE = {"part": "vae", "edge": 64, "b": 1, "dtype": "fp16", "attn": "eager"}
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def configs():
    for edge in (64, 96, 128):
        yield UNET | {"edge": edge}
        yield UNET | {"edge": edge, "attn": "sdpa"}
        yield UNET | {"edge": edge, "attn": "rows", "size": 1}
        yield UNET | {"edge": edge, "attn": "rows", "size": 8}
        yield UNET | {"edge": edge, "attn": "queries", "size": 1024}
    for attn in ("eager", "sdpa", "rows"):
        yield UNET | {"b": 8, "attn": attn, "size": 8}
    yield UNET | {"dtype": "bf16"}
    yield UNET | {"dtype": "fp32"}
    yield UNET | {"dtype": "fp32", "attn": "rows", "size": 1, "edge": 96}
    yield UNET | {"edge": 40, "b": 3}
    yield from (VAE | {"edge": edge} for edge in (64, 96, 128, 192))
    yield from (VAE | {"edge": edge, "tile": 64, "overlap": 16} for edge in (96, 128, 192, 256))
    yield VAE | {"edge": 128, "tile": 32, "overlap": 8}
    yield VAE | {"b": 4}
    yield VAE | {"b": 4, "single": True}
    yield VAE | {"dtype": "fp32"}
    yield VAE | {"dtype": "bf16", "edge": 128}
    yield VAE | {"attn": "sdpa", "edge": 128}
    yield VAE | {"attn": "queries", "size": 1024, "edge": 128}
    for b, edge in ((1, 32), (4, 64), (16, 32)):
        yield UNET | {"train": True, "b": b, "edge": edge, "attn": "sdpa", "dtype": "amp"}


def build(cfg):
    kind = nets.Unet if cfg["part"] == "unet" else nets.Decoder
    with torch.device("meta"):
        model = kind()
    model = model.to_empty(device="cuda")
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0, 0.02)
    if cfg["dtype"] in DTYPES:
        model = model.to(DTYPES[cfg["dtype"]])
    for part in model.modules():
        if isinstance(part, nets.Attention):
            part.how, part.size = cfg["attn"], cfg.get("size", 0)
    return model


def make_inputs(cfg):
    dtype = DTYPES.get(cfg["dtype"], torch.float32)
    b, edge = cfg["b"], cfg["edge"]
    latents = torch.randn(b, 4, edge, edge, device="cuda").to(dtype)
    if cfg["part"] == "vae":
        return (latents,)
    step = torch.full((b,), 500, device="cuda")
    words = torch.randn(b, nets.WORDS, nets.WORD_WIDTH, device="cuda").to(dtype)
    return latents, step, words


def call(cfg, model, inputs):
    with torch.no_grad():
        if cfg.get("single"):
            return torch.cat([model(one) for one in inputs[0].split(1)])
        if cfg.get("tile"):
            return nets.decode_tiled(model, inputs[0], cfg["tile"], cfg["overlap"])
        return model(*inputs)


def clean():
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def measure(cfg, mark):
    clean()
    base, base_reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    model = build(cfg)
    clean()
    now, peak = (lambda: torch.cuda.memory_allocated() - base), (lambda: torch.cuda.max_memory_allocated() - base)
    out = {"params": sum(weight.numel() for weight in model.parameters()), "after_model": now()}
    inputs = make_inputs(cfg)
    if cfg.get("train"):
        return out | train(cfg, model, inputs, mark, now, peak) | {"base_allocated": base, "base_reserved": base_reserved}
    call(cfg, model, inputs)
    clean()
    out |= {"inputs": now() - out["after_model"]}
    torch.cuda.reset_peak_memory_stats()
    mark("start")
    result = call(cfg, model, inputs)
    torch.cuda.synchronize()
    mark("end")
    out |= {"peak": peak(), "after": now(), "reserved": torch.cuda.memory_reserved(), "is_finite": bool(result.isfinite().all())}
    return out | {"base_allocated": base, "base_reserved": base_reserved}


def train(cfg, model, inputs, mark, now, peak):
    """Two steps: predict the noise, mean of squares, AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    noise, steps = torch.randn_like(inputs[0]), []
    for step in range(2):
        torch.cuda.reset_peak_memory_stats()
        mark(f"start{step}")
        with torch.autocast("cuda", torch.bfloat16):
            guess = model(*inputs)
            loss = F.mse_loss(guess.float(), noise)
        row = {"after_forward": now(), "peak_forward": peak()}
        mark(f"forward{step}")
        del guess
        loss.backward()
        row |= {"after_backward": now(), "peak_backward": peak()}
        mark(f"backward{step}")
        optimizer.step()
        row |= {"after_step": now(), "peak_step": peak()}
        mark(f"step{step}")
        optimizer.zero_grad(set_to_none=True)
        del loss
        row |= {"reserved": torch.cuda.memory_reserved()}
        mark(f"zero{step}")
        steps.append(row)
    return {"steps": steps}


def watch(cfg):
    """The figures, and every event between the marks."""
    warm_up()
    torch.cuda.memory._record_memory_history("all", context=None, max_entries=2_000_000)
    marks = []
    try:
        record = cfg | measure(cfg, lambda name: marks.append((name, len(device_trace()))))
    except torch.OutOfMemoryError as error:
        return cfg | {"error": "out of memory", "message": str(error).splitlines()[0]}
    trace, events, at = device_trace(), [], marks[0][1]
    for name, end in marks:
        for event in trace[at:end]:
            if event["action"] in LETTERS:
                events.append([LETTERS[event["action"]], event["size"], event["addr"]])
        events.append(["m", name])
        at = end
    return record | {"events": events}


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    if sys.argv[1].startswith("{"):
        print(json.dumps(watch(json.loads(sys.argv[1])), indent=1))
        return
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    records = run_all(watch, list(configs()))
    with open(os.path.join(folder, "events.json.gz"), "wb") as out:
        out.write(gzip.compress(json.dumps(records, separators=(",", ":")).encode(), mtime=0))
    about = {"torch": torch.__version__, "device": torch.cuda.get_device_name(), "cudnn": torch.backends.cudnn.version()}
    with open(os.path.join(folder, "peaks.json"), "w") as out:
        out.write('{"about": ' + json.dumps(about) + ', "records": [\n')
        out.write(",\n".join(json.dumps({key: record[key] for key in record if key != "events"}) for record in records))
        out.write("\n]}\n")


if __name__ == "__main__":
    main()
