"""How the other scripts of this folder time a pass on the device."""

import statistics

import torch


def median_us(run, repeats=15, spin=400_000, before=lambda: None):
    """Median of `repeats` passes in microseconds, by events behind a spin of `spin` clocks that hides the launches. `before`
    is called ahead of each pass, outside the time."""
    for _ in range(3):
        run()
    samples = []
    for _ in range(repeats):
        before()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(spin)
        start.record()
        run()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) * 1e3)
    return statistics.median(samples)
