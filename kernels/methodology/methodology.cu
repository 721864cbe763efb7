// Sums over 64 bytes a thread, one word a warp; the same kernel under several names, each loaded when first launched.

extern "C" __global__ void fill(uint4* out) {
    unsigned long long first = (unsigned long long)blockIdx.x * 1024 + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        unsigned long long at = first + k * 256;
        unsigned word = (unsigned)(4 * at);
        out[at] = make_uint4((word * 2654435761u) ^ 0x5bd1e995u, ((word + 1) * 2654435761u) ^ 0x5bd1e995u,
                             ((word + 2) * 2654435761u) ^ 0x5bd1e995u, ((word + 3) * 2654435761u) ^ 0x5bd1e995u);
    }
}

__device__ __forceinline__ void sum_of(const uint4* in, unsigned* out) {
    unsigned long long warp = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned lane = threadIdx.x % 32;
    const uint4* place = in + warp * 128 + lane;
    uint4 value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = place[k * 32];
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += value[k].x + value[k].y + (value[k].z + value[k].w);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    if (lane == 0) out[warp] = sum;
}

#define SUMS(NAME) \
    extern "C" __global__ void NAME(const uint4* in, unsigned* out) { sum_of(in, out); }

SUMS(sums)
SUMS(cold_0)
SUMS(cold_1)
SUMS(cold_2)
SUMS(cold_3)
SUMS(cold_4)
SUMS(cold_5)
SUMS(cold_6)
SUMS(cold_7)

// Cycles and nanoseconds of the same stretch of about 100 µs.
extern "C" __global__ void clocks(unsigned long long* out) {
    unsigned long long from_ns, now_ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from_ns));
    // The timer steps: the stretch begins at a step.
    do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns)); } while (now_ns == from_ns);
    from_ns = now_ns;
    long long from = clock64();
    do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns)); } while (now_ns - from_ns < 100000);
    out[0] = (unsigned long long)(clock64() - from);
    out[1] = now_ns - from_ns;
}
