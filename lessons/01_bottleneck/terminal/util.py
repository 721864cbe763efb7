"""Keeps a GPU "100 % busy" in two ways, to see what the utilisation of nvidia-smi counts.

    python3 util.py copy 10     # copies 4 GiB again and again
    python3 util.py wait 10     # one thread of one block waits, nothing else

Prints what was achieved. Run nvidia-smi in a second terminal meanwhile.
"""

import sys
import time

import torch

kind, secs = sys.argv[1], float(sys.argv[2])
n_bytes = 4 << 30 if kind == "copy" else 4
a = torch.randint(0, 100, (n_bytes // 4,), dtype=torch.int32, device="cuda")
b = torch.empty_like(a)
b.copy_(a)
torch.cuda.synchronize()
start, n_launches = time.time(), 0
while time.time() - start < secs:
    for _ in range(20):
        if kind == "copy":
            b.copy_(a)  # every SM reads and writes
        else:
            torch.cuda._sleep(20_000_000)  # one thread counts clock cycles, 10 ms
        n_launches += 1
    torch.cuda.synchronize()
took = time.time() - start
moved = 2 * n_bytes * n_launches if kind == "copy" else 0
print(f"{kind}: {n_launches} launches in {took:.1f} s, {moved / took / 1e9:.0f} GB/s of device memory")
