// Reads 4-byte elements at a stride, LOADS of them in flight a thread, and sums them.
// A warp owns 32 * LOADS neighbouring elements; load k of lane l is element k * 32 + l of them, so every warp request
// has the pattern under study. One word a warp is written: the sum, which the processor recomputes.

extern "C" __global__ void strided_read(const unsigned* __restrict__ input, unsigned* __restrict__ out,
                                        unsigned stride, unsigned offset) {
    unsigned long long warp = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned lane = threadIdx.x % 32;
    const unsigned* place = input + offset + (warp * 32 * LOADS + lane) * stride;
    unsigned value[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
        value[k] = place[(unsigned long long)k * 32 * stride];
    }
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
        sum += value[k];
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (lane == 0) {
        out[warp] = sum;
    }
}
