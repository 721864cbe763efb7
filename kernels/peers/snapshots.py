"""Records PyTorch memory snapshots: small, whole runs with one thing to see in each.

    python3 snapshots.py FOLDER              every scene
    python3 snapshots.py FOLDER leak oom     some of them

Writes NAME.pickle.gz (what `torch.cuda.memory._snapshot()` returns) and NAME.json: `stats` (the integers of
`memory_stats()`), `summary` (`memory_summary()` as text), `message` (of an out-of-memory error), `conf`, `torch`,
`device`, and what the scene says about itself. Each scene runs in a process of its own, so that it starts from an
empty allocator. Needs CUDA and PyTorch 2.11 or later.
"""

import gzip
import json
import os
import pickle
import random
import sys
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F

MIB = 1 << 20
DEVICE = "cuda:0"
record_function = torch.profiler.record_function


class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def feed_forward(self, x):
        return self.down(F.gelu(self.up(x)))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class Language(nn.Module):
    """Tokens in, scores of the next token out."""

    def __init__(self, layers, width, heads, words, length):
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def start(max_entries=None, settings=None):
    """An empty allocator with its options, then the recording."""
    if settings:
        set_options(settings)
    torch.cuda.init()
    extra = {"max_entries": max_entries} if max_entries else {}
    try:
        torch.cuda.memory._record_memory_history("all", stacks="python", global_record_annotations=True, **extra)
    except TypeError:
        torch.cuda.memory._record_memory_history("all", stacks="python", **extra)
    torch.cuda.reset_peak_memory_stats()


def set_options(settings):
    for home, name in ((torch._C, "_accelerator_setAllocatorSettings"), (torch.cuda.memory, "_set_allocator_settings")):
        if hasattr(home, name):
            getattr(home, name)(settings)
            return
    raise SystemExit("this PyTorch cannot set allocator options at run time")


def limit(mebibytes):
    """No more than this for the process, as PyTorch's own fraction."""
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(mebibytes * MIB / total)


def train(model, optimizer, step, tokens, amp=True, keep=None):
    """One step with its phases named."""
    with record_function(f"step {step}"):
        with record_function("forward"), torch.autocast("cuda", torch.bfloat16, enabled=amp):
            scores = model(tokens)
        with record_function("loss"):
            loss = F.cross_entropy(scores.float().flatten(0, 1), tokens.flatten())
        if keep is not None:
            keep(scores)
        del scores
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


def training_loop():
    """A small GPT, mixed precision, AdamW, 12 steps."""
    start()
    model = Language(4, 512, 8, 8000, 256).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8000, (8, 256), device=DEVICE)
    for step in range(12):
        train(model, optimizer, step, tokens)
    return {"keep": (model, optimizer, tokens)}


def expandable_train():
    """The same loop with expandable segments, 6 steps."""
    start(settings="expandable_segments:True")
    model = Language(4, 512, 8, 8000, 256).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8000, (8, 256), device=DEVICE)
    for step in range(6):
        train(model, optimizer, step, tokens)
    torch.cuda.empty_cache()
    train(model, optimizer, 6, tokens)
    return {"keep": (model, optimizer, tokens)}


def kv_growth():
    """Keys and values of six layers, each grown by concatenation for 120 tokens."""
    start()
    heads, width, batch = 8, 64, 8
    caches = [torch.empty(2, batch, heads, 256, width, dtype=torch.bfloat16, device=DEVICE) for _ in range(6)]
    for token in range(120):
        with record_function(f"token {token}"):
            for layer in range(len(caches)):
                piece = torch.ones(2, batch, heads, 1, width, dtype=torch.bfloat16, device=DEVICE)
                caches[layer] = torch.cat([caches[layer], piece], dim=3)
                del piece
    return {"keep": caches}


def fragmentation():
    """An epoch keeps a prediction of each batch, which lies between two feature maps; then the feature maps go."""
    start()
    limit(640)
    epoch, message = [], ""
    for batch in range(30):
        with record_function(f"batch {batch}"):
            before, prediction, after = (six_mebibytes() for _ in range(3))
            epoch.append([before, prediction, after])
            del before, prediction, after
    with record_function("drop the features"):
        epoch = [prediction for _, prediction, _ in epoch]
    try:
        with record_function("evaluation"):
            epoch.append(torch.empty(64 * MIB, dtype=torch.uint8, device=DEVICE))
    except torch.OutOfMemoryError as error:
        message = str(error)
    return {"keep": epoch, "message": message}


def six_mebibytes():
    return torch.empty(6 * MIB, dtype=torch.uint8, device=DEVICE)


def leak():
    """A training loop that keeps one tensor of 4 MiB a step for a plot that nobody draws."""
    start()
    model = nn.Sequential(*(nn.Sequential(nn.Linear(1024, 1024), nn.ReLU()) for _ in range(6))).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    history = []
    for step in range(12):
        with record_function(f"step {step}"):
            inputs = torch.randn(1024, 1024, device=DEVICE)
            features = model(inputs)
            loss = features.square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            remember(history, features)
            del inputs, features, loss
    return {"keep": (model, optimizer, history), "leak_bytes_per_step": 4 * MIB}


def remember(history, features):
    history.append(features.detach().clone())


def capture(model, static, pool=None):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        result = model(static)
    return graph, result


def graph_pool():
    """Two inference graphs: the first has a private pool, the second shares it; eager work goes on beside them."""
    start()
    model = nn.Sequential(*(nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)) for _ in range(3)))
    model = model.to(DEVICE).eval()
    graphs = []
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), record_function("warm-up"):
            for _ in range(2):
                model(torch.randn(512, 1024, device=DEVICE))
        torch.cuda.current_stream().wait_stream(side)
        pool = None
        for rows in (1024, 512):
            static = torch.zeros(rows, 1024, device=DEVICE)
            with record_function(f"capture {rows}"):
                graph, result = capture(model, static, pool)
            pool = pool or graph.pool()
            graphs.append((graph, static, result))
        for step in range(6):
            with record_function(f"replay {step}"):
                for graph, static, _ in graphs:
                    static.normal_()
                    graph.replay()
                model(torch.randn(256, 1024, device=DEVICE))
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    return {"keep": (model, graphs)}


def graph_gone():
    """A graph is captured, replayed and destroyed; only then does empty_cache return its pool."""
    start()
    model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to(DEVICE).eval()
    with torch.no_grad():
        model(torch.randn(512, 1024, device=DEVICE))
        torch.cuda.synchronize()
        static = torch.zeros(1024, 1024, device=DEVICE)
        graph, result = capture(model, static)
        graph.replay()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        del result
        graph.reset()
        del graph
        torch.cuda.empty_cache()
        again = model(torch.randn(512, 1024, device=DEVICE))
    return {"keep": (model, static, again)}


def oom():
    """Training with a batch that doubles until the card is full; recorded at the moment of the failure."""
    start()
    limit(3072)
    seen = []
    # Called before the failed step unwinds and frees what it held.
    torch._C._cuda_attach_out_of_memory_observer(lambda *_: seen.append(state()))
    model = Language(4, 512, 8, 8000, 256).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch, message = 4, ""
    try:
        while True:
            tokens = torch.randint(0, 8000, (batch, 256), device=DEVICE)
            for step in range(2):
                train(model, optimizer, f"{step} of batch {batch}", tokens)
            batch *= 2
    except torch.OutOfMemoryError as error:
        message = str(error)
    return {"keep": (model, optimizer), "state": seen[0], "message": message, "batch": batch}


def retry():
    """Cached blocks of the wrong size fill the card; they are given back, and the request then fits."""
    start()
    limit(512)
    many = [torch.empty(30 * MIB, dtype=torch.uint8, device=DEVICE) for _ in range(16)]
    few = many[::4]
    del many
    large = torch.empty(200 * MIB, dtype=torch.uint8, device=DEVICE)
    again = [torch.empty(size * MIB, dtype=torch.uint8, device=DEVICE) for size in (30, 12, 5, 5)]
    messages = []
    for size in (120, 400):
        try:
            again.append(torch.empty(size * MIB, dtype=torch.uint8, device=DEVICE))
        except torch.OutOfMemoryError as error:
            messages.append(str(error))
    return {"keep": (few, large, again), "message": "\n".join(messages)}


def streams():
    """Copies on a second stream use tensors of the first, which frees them while that work still runs."""
    start()
    side = torch.cuda.Stream()
    kept = []
    for step in range(40):
        with record_function(f"step {step}"):
            staged = torch.full((6 * MIB // 4,), float(step), device=DEVICE)
            small = torch.ones(1000 + 100 * step, device=DEVICE)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.cuda._sleep(3_000_000)
                result = staged[: MIB // 4] * 2
                total = small.sum()
                staged.record_stream(side)
                small.record_stream(side)
            kept.append(result)
            del staged, small, result, total
            scratch = torch.empty((3 + step % 4) * MIB, dtype=torch.uint8, device=DEVICE)
            del scratch
            if step % 8 == 7:
                torch.cuda.current_stream().wait_stream(side)
                torch.cuda.synchronize()
                kept.clear()
            if step == 30:
                torch.cuda.empty_cache()
    last = torch.full((6 * MIB // 4,), 1.0, device=DEVICE)
    with torch.cuda.stream(side):
        side.wait_stream(torch.cuda.default_stream())
        torch.cuda._sleep(400_000_000)
        total = last.sum()
        last.record_stream(side)
    del last
    return {"keep": (kept, total)}


def cut_ring():
    """The training loop with room for 1500 events: the beginning is lost."""
    start(max_entries=1500)
    model = Language(2, 256, 4, 2000, 128).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 2000, (8, 128), device=DEVICE)
    for step in range(12):
        train(model, optimizer, step, tokens)
    return {"keep": (model, optimizer, tokens)}


def rank(length):
    start()
    model = Language(3, 256, 4, 4000, 512).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(4):
        tokens = torch.randint(0, 4000, (8, length + 32 * step), device=DEVICE)
        train(model, optimizer, step, tokens)
        del tokens
    return {"keep": (model, optimizer), "length": length}


def rank0():
    """One of two workers with the same model: short sequences."""
    return rank(128)


def rank1():
    """The other worker: its sequences are three times as long."""
    return rank(384)


def random_run(seed, operations, largest):
    """Seeded requests and frees of bytes; a request that fails is counted and left out."""
    luck = random.Random(seed)
    live, message = [], ""
    for _ in range(operations):
        if live and luck.random() < 0.47:
            live.pop(luck.randrange(len(live)))
            continue
        if luck.random() < 0.01:
            torch.cuda.empty_cache()
        size = int(2 ** luck.uniform(5, largest))
        try:
            live.append(torch.empty(size, dtype=torch.uint8, device=DEVICE))
        except torch.OutOfMemoryError as error:
            message = message or str(error)
            for _ in range(len(live) // 3):
                live.pop(luck.randrange(len(live)))
    return {"keep": live, "message": message, "seed": seed}


def options():
    """Random requests under max_split_size_mb, garbage collection and a fraction."""
    start(settings="max_split_size_mb:64,garbage_collection_threshold:0.6")
    limit(900)
    return random_run(1, 1800, 27.5)


def roundup():
    """Random requests under roundup_power2_divisions."""
    start(settings="roundup_power2_divisions:[1:8,64:4,256:2,>:1]")
    limit(1100)
    return random_run(2, 1800, 27)


def random_native():
    """Random requests on a capped card, default settings: retries and failures."""
    start()
    limit(512)
    return random_run(3, 1800, 27)


def random_expandable():
    """Random requests on a capped card with expandable segments."""
    start(settings="expandable_segments:True")
    limit(1536)
    return random_run(4, 1800, 27)


SCENES = [training_loop, expandable_train, kv_growth, fragmentation, leak, graph_pool, graph_gone, oom, retry,
          streams, cut_ring, rank0, rank1, options, roundup, random_native, random_expandable]


def state():
    """What the allocator says of itself at this moment."""
    stats = {key: value for key, value in torch.cuda.memory_stats().items() if isinstance(value, int)}
    return {"snapshot": torch.cuda.memory._snapshot(), "stats": stats, "summary": torch.cuda.memory_summary()}


def short_path(path):
    """A file's name without the place where this machine keeps it."""
    if "site-packages/" in path:
        return path.rsplit("site-packages/", 1)[1]
    if path == os.path.abspath(__file__):
        return "kernels/peers/snapshots.py"
    return "/usr/lib/python3/" + path.rsplit("/", 1)[1] if "/lib/python3" in path else path


def shorten(snapshot):
    """Shortens the paths of all frames; each frame's dictionary is shared by many events."""
    known, done = {}, set()
    places = [place for device in snapshot["device_traces"] for place in device]
    for segment in snapshot["segments"]:
        places += [segment, *segment["blocks"]]
    for place in places:
        for frame in place.get("frames") or ():
            if id(frame) not in done:
                done.add(id(frame))
                frame["filename"] = known.setdefault(frame["filename"], short_path(frame["filename"]))
    return snapshot


def save(folder, name, about, facts):
    found = facts.pop("state", None) or state()
    snapshot = shorten(found["snapshot"])
    with open(os.path.join(folder, name + ".pickle.gz"), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as out:
        pickle.dump(snapshot, out, protocol=4)
    record = {"about": about, "stats": found["stats"], "summary": found["summary"],
              "conf": snapshot.get("allocator_settings"), "torch": torch.__version__,
              "device": torch.cuda.get_device_name(), "total_bytes": torch.cuda.get_device_properties(0).total_memory}
    record.update({key: value for key, value in facts.items() if key != "keep"})
    with open(os.path.join(folder, name + ".json"), "w") as out:
        json.dump(record, out, indent=1)
        out.write("\n")
    return sum(len(device) for device in snapshot["device_traces"])


def apart(folder, scene):
    """Runs a scene in a process of its own; CUDA starts only there."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 1
    try:
        facts = scene()
        events = save(folder, scene.__name__, scene.__doc__, facts)
        print(f"{scene.__name__}: {events} events", flush=True)
        code = 0
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    unknown = set(names) - {scene.__name__ for scene in SCENES}
    if unknown:
        raise SystemExit(f"no scene is called {', '.join(sorted(unknown))}")
    failed = [scene.__name__ for scene in SCENES if (not names or scene.__name__ in names) and apart(folder, scene)]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
