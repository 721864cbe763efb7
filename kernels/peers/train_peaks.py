"""Training memory, phase by phase: what PyTorch's allocator holds during two steps of a configuration.

    python3 train_peaks.py FOLDER            every configuration of train_peaks_list.py, into FOLDER/NET.json
    python3 train_peaks.py FOLDER --odd      odd sizes, 8-bit states, 4-bit weights and other blocks, into FOLDER/odd.json, with the
                                             events of the small ones in FOLDER/odd_events.json.gz; the packed ones need bitsandbytes
    python3 train_peaks.py FOLDER --tracker  the same by PyTorch's MemTracker under FakeTensorMode, into FOLDER/tracker.json
    python3 train_peaks.py FOLDER --events   every allocator event of the small ones, into FOLDER/events.json.gz
    python3 train_peaks.py '{"net":"gpt",…}' one configuration, to standard output

A step: reset the peak; forward and loss (after_forward, peak_forward); drop the logits, backward (after_backward,
peak_backward); optimizer (after_step, peak_step); gradients to None (reserved). All figures are bytes above the base,
except `reserved`. Every configuration runs in a process of its own, after a warm-up that makes the libraries'
workspaces part of the base. Needs CUDA and PyTorch 2.11 or later; torchvision for resnet50.
"""

import gc
import gzip
import json
import os
import sys
import time
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import train_peaks_nets as nets
from train_peaks_list import CONFIGS, SMALL
from train_peaks_odd import ODD, SMALL_ODD

WORKERS = 5


class Optimizer:
    """The optimizer of a configuration; with `master`, float32 copies of bf16 weights are what it steps."""

    def __init__(self, cfg, model):
        self.weights = [weight for weight in model.parameters() if weight.requires_grad]
        self.masters = [weight.detach().float() for weight in self.weights] if cfg.get("master") else []
        self.is_filled, kind = cfg.get("zero") == "fill", cfg["opt"]
        stepped = self.masters or self.weights
        if kind == "adamw":
            how = {key: cfg[key] for key in ("foreach", "fused") if key in cfg}
            self.inner = torch.optim.AdamW(stepped, lr=1e-4, **how)
        elif kind == "adamw8":
            import bitsandbytes

            self.inner = bitsandbytes.optim.AdamW8bit(stepped, lr=1e-4)
        else:
            self.inner = torch.optim.SGD(stepped, lr=1e-4, momentum=0.9 if kind == "sgdm" else 0.0)

    def step(self):
        for master, weight in zip(self.masters, self.weights):
            master.grad, weight.grad = weight.grad.float(), None
        self.inner.step()
        with torch.no_grad():
            for master, weight in zip(self.masters, self.weights):
                weight.copy_(master)
                master.grad = None

    def zero(self):
        self.inner.zero_grad(set_to_none=not self.is_filled)


def forward(cfg, model, x, y):
    """Scores and loss."""
    with torch.autocast("cuda", torch.bfloat16, enabled=cfg["dtype"] == "amp"):
        scores, balance = model(x), None
        if cfg["net"] == "moe":
            scores, balance = scores
        wide = scores if cfg["dtype"] == "fp32" else scores.float()
        loss = F.cross_entropy(wide.view(-1, scores.shape[-1]), y.view(-1))
        del wide
        if balance is not None:
            loss = loss + 0.01 * torch.stack(balance).sum()
    return scores, loss


def measure(cfg, mark=lambda name: None):
    gc.collect()
    torch.cuda.empty_cache()
    base, base_reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()

    def now():
        return torch.cuda.memory_allocated() - base

    def peak():
        return torch.cuda.max_memory_allocated() - base

    model, make_inputs = nets.build(cfg)
    after_model, steps = now(), []
    mark("model")
    optimizer = Optimizer(cfg, model)
    x, y = make_inputs()
    mark("inputs")
    for step in range(2):
        torch.cuda.reset_peak_memory_stats()
        turns = cfg.get("accum", 1)
        for _ in range(turns):
            scores, loss = forward(cfg, model, x, y)
            row = {"after_forward": now(), "peak_forward": peak()}
            mark(f"forward{step}")
            del scores
            (loss if turns == 1 else loss / turns).backward()
            row |= {"after_backward": now(), "peak_backward": peak()}
            mark(f"backward{step}")
        optimizer.step()
        row |= {"after_step": now(), "peak_step": peak()}
        mark(f"step{step}")
        optimizer.zero()
        row |= {"reserved": torch.cuda.memory_reserved(), "loss": loss.item()}
        del loss
        mark(f"zero{step}")
        steps.append(row)
    return {"params": sum(weight.numel() for weight in model.parameters()),
            "trained": sum(weight.numel() for weight in model.parameters() if weight.requires_grad),
            "after_model": after_model, "steps": steps, "base_allocated": base, "base_reserved": base_reserved}


def warm_up():
    """Linear layers and a product, forward, backward and recomputed in backward, in each precision: after that, cuBLAS and
    cuBLASLt have their workspaces on both threads."""
    for dtype in ("fp32", "amp", "bf16"):
        for is_recomputed in (False, True):
            layers = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64, bias=False)).cuda()
            x = torch.randn(2, 64, 64, device="cuda", requires_grad=True)
            if dtype == "bf16":
                layers, x = layers.bfloat16(), x.detach().bfloat16().requires_grad_()
            with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "amp"):
                y = checkpoint(layers, x, use_reentrant=False) if is_recomputed else layers(x)
                z = (y @ y.transpose(-1, -2)) @ y
            z.float().sum().backward()
            del layers, x, y, z
    torch.cuda.synchronize()


def run(cfg):
    try:
        warm_up()
        return cfg | measure(cfg)
    except torch.OutOfMemoryError as error:
        return cfg | {"error": "out of memory", "message": str(error).splitlines()[0]}


def watch(cfg):
    """The figures, and every event of the allocator with marks where the phases end."""
    warm_up()
    torch.cuda.memory._record_memory_history("all", context=None, max_entries=4_000_000)
    marks = []
    record = cfg | measure(cfg, lambda name: marks.append((name, len(device_trace()))))
    events, at = [], 0
    for name, end in marks + [("end", None)]:
        for event in device_trace()[at:end]:
            letter = LETTERS.get(event["action"])
            if letter:
                events.append([letter, event["size"], event["addr"]])
        events.append(["m", name])
        at = end
    return record | {"events": events}


LETTERS = {"alloc": "a", "free_requested": "f", "segment_alloc": "s", "segment_free": "S"}


def device_trace():
    return torch.cuda.memory._snapshot()["device_traces"][0]


def track(cfg):
    """What PyTorch's own tracker foresees, without allocating."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed._tools.mem_tracker import MemTracker

    torch.cuda.init()
    started = time.perf_counter()
    with FakeTensorMode(allow_non_fake_inputs=True):
        model, make_inputs = nets.build(cfg, is_fake=True)
        optimizer = Optimizer(cfg, model)
        x, y = make_inputs()
        tracker = MemTracker()
        tracker.track_external(model, optimizer.inner, x)
        steps = []
        with tracker:
            for step in range(2):
                scores, loss = forward(cfg, model, x, y)
                row = {"after_forward": snapshot(tracker, "current")}
                del scores
                loss.backward()
                row["after_backward"] = snapshot(tracker, "current")
                optimizer.step()
                row["after_step"] = snapshot(tracker, "current")
                optimizer.zero()
                del loss
                row["peak"] = snapshot(tracker, "peak")
                steps.append(row)
                if step == 0:
                    tracker.reset_mod_stats()
    return cfg | {"tracker": steps, "seconds": time.perf_counter() - started}


def snapshot(tracker, kind):
    """Bytes by category on the card."""
    out = {}
    for device, parts in tracker.get_tracker_snapshot(kind).items():
        if torch.device(device).type == "cuda":
            out |= {getattr(key, "value", str(key)): size for key, size in parts.items()}
    return out


def apart(work, cfg):
    """Runs `work` in a process that starts CUDA itself; returns it and the end that it writes to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    try:
        record = work(cfg)
    except BaseException:
        record = cfg | {"error": "failed", "message": traceback.format_exc()[-1500:]}
    with os.fdopen(writing, "w") as out:
        json.dump(record, out)
    os._exit(0)


def collect(running):
    child, reading = running
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "died"}


def run_all(work, configs):
    """In the order given, some at a time: their memory does not touch, and no time is measured."""
    running, records = [], []
    for cfg in configs:
        if len(running) == WORKERS:
            records.append(collect(running.pop(0)))
        running.append(apart(work, cfg))
    records += [collect(one) for one in running]
    for record in records:
        if "error" in record:
            print(json.dumps(record), file=sys.stderr, flush=True)
    return records


def write(path, records):
    about = {"torch": torch.__version__, "device": torch.cuda.get_device_name()}
    with open(path, "w") as out:
        out.write('{"about": ' + json.dumps(about) + ', "records": [\n')
        out.write(",\n".join(json.dumps(record) for record in records))
        out.write("\n]}\n")


def write_events(path, configs):
    text = json.dumps(run_all(watch, configs), separators=(",", ":"))
    with open(path, "wb") as out:
        out.write(gzip.compress(text.encode(), mtime=0))


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    if sys.argv[1].startswith("{"):
        print(json.dumps(run(json.loads(sys.argv[1])), indent=1))
        return
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    if "--tracker" in sys.argv:
        write(os.path.join(folder, "tracker.json"), run_all(track, CONFIGS))
        return
    if "--odd" in sys.argv:
        # Events first: the file of figures names the device, and a process that knows CUDA cannot be forked.
        write_events(os.path.join(folder, "odd_events.json.gz"), SMALL_ODD)
        write(os.path.join(folder, "odd.json"), run_all(run, ODD))
        return
    if "--events" in sys.argv:
        write_events(os.path.join(folder, "events.json.gz"), SMALL)
        return
    records = run_all(run, CONFIGS)
    for net in ("gpt", "llama", "moe", "resnet50"):
        write(os.path.join(folder, net + ".json"), [record for record in records if record.get("net") == net])


if __name__ == "__main__":
    main()
