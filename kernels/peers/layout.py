"""What PyTorch does with the work of `layout_copy`, `channel_layout`, `block_sums`, `aos_soa`, `record_fields`: a transpose, a
change to channels_last, sums over channels, sums of everything, and one column of a table of records.

Prints one JSON object a line: microseconds, medians of 15 behind a spin, and the useful bandwidth; beside them a copy of the same
bytes in the same start. `python3 layout.py`.
"""

import json

import torch
from timing import median_us

SIDE = 8192
CHANNELS, PIXELS = 64, 1 << 21
RECORDS, FIELDS = 1 << 26, 16


def put(what, us, n_bytes, **more):
    print(json.dumps({"what": what, **more, "us": us, "gb_per_s": n_bytes / us / 1e3}), flush=True)


def transposes():
    x = torch.rand(SIDE, SIDE, device="cuda")
    out = torch.empty_like(x)
    compiled = torch.compile(lambda x: x.t().contiguous(), dynamic=False)
    for what, run in [
        ("copy", lambda: out.copy_(x)),
        ("transpose", lambda: out.copy_(x.t())),
        ("transpose, compiled", lambda: compiled(x)),
    ]:
        put(what, median_us(run), 8 * x.numel(), side=SIDE)
    assert torch.equal(compiled(x), x.t())


def channels():
    """One image of 64 channels: the change of layout, and what a sum over the channels takes in either."""
    side = 1 << 10
    x = torch.rand(1, CHANNELS, side, PIXELS // side, device="cuda")
    last = x.contiguous(memory_format=torch.channels_last)
    out, out_last = torch.empty_like(x), torch.empty_like(last)
    rows = [
        ("copy", lambda: out.copy_(x), 8 * x.numel()),
        ("NCHW to NHWC", lambda: out_last.copy_(x), 8 * x.numel()),
        ("NHWC to NCHW", lambda: out.copy_(last), 8 * x.numel()),
        ("sum over channels, NCHW", lambda: x.sum(1), 4 * x.numel() + 4 * PIXELS),
        ("sum over channels, NHWC", lambda: last.sum(1), 4 * x.numel() + 4 * PIXELS),
    ]
    took = {}
    for what, run, n_bytes in rows:
        took[what] = median_us(run)
        put(what, took[what], n_bytes, channels=CHANNELS, pixels=PIXELS)
    bad, good = sorted([took["sum over channels, NCHW"], took["sum over channels, NHWC"]])[::-1]
    change = took["NCHW to NHWC"] if good == took["sum over channels, NHWC"] else took["NHWC to NCHW"]
    uses = -(-change // (bad - good)) if bad > good else None
    print(json.dumps({"what": "uses after which a change pays", "uses": uses}), flush=True)


def sums():
    words = torch.randint(-(1 << 31), 1 << 31, (1 << 28,), dtype=torch.int32, device="cuda")
    for n in [1 << 16, 1 << 20, 1 << 24, 1 << 26, 1 << 28]:
        runs = words[:n].view(-1, 256)
        put("sum of 256 words each", median_us(lambda: runs.sum(-1, dtype=torch.int32)), 4 * n + n // 64, n=n)
        put("sum of all words", median_us(lambda: words[:n].sum(dtype=torch.int32)), 4 * n, n=n)


def fields():
    table = torch.rand(RECORDS, FIELDS, device="cuda")
    column = table[:, 0].contiguous()
    put("one field, records kept whole", median_us(lambda: table[:, 0].sum()), 4 * RECORDS)
    put("one field, an array of its own", median_us(lambda: column.sum()), 4 * RECORDS)
    order = torch.randperm(RECORDS, device="cuda")[: RECORDS // 8]
    out = torch.empty(RECORDS // 8, FIELDS, device="cuda")
    put("whole records, random order", median_us(lambda: torch.index_select(table, 0, order, out=out)), 64 * len(order))


if __name__ == "__main__":
    for part in [transposes, channels, sums, fields]:
        part()
        torch.cuda.empty_cache()
