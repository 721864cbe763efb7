// One thread follows pointers, one a 128-byte line, along a random cycle through the whole footprint: each load must end
// before the next address is known, so that time over hops is latency.
//
// The first launch after a fill lays the cycle: line place(p) points to line place(p + 1). Later launches go on where the
// last one stopped, so that a launch never meets only lines that the one before has just brought in.

struct State {
    unsigned is_built;
    unsigned n_arrived;
    unsigned position;
};

// A permutation of 0 … n - 1 without memory: bits mixed reversibly below 2^bits, again while the result is not below n.
__device__ unsigned place(unsigned position, unsigned n, unsigned bits) {
    unsigned mask = bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1, shift = bits / 2 > 0 ? bits / 2 : 1;
    do {
        position = (position * 0x9E3779B1u + 0x7F4A7C15u) & mask;
        position ^= position >> shift;
        position = (position * 0x85EBCA6Bu) & mask;
        position ^= position >> shift;
        position = (position * 0xC2B2AE35u) & mask;
    } while (position >= n);
    return position;
}

__device__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ unsigned long long follow(unsigned long long at, unsigned n_hops) {
#pragma unroll 32
    for (unsigned hop = 0; hop < n_hops; ++hop) {
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(at) : "l"(at));
    }
    return at;
}

extern "C" __global__ void pointer_chase(unsigned long long* chain, unsigned* out, unsigned long long* cycles,
                                         unsigned long long* nanos, State* state, unsigned n_lines, unsigned bits,
                                         unsigned n_warm, unsigned n_hops) {
    __shared__ volatile unsigned long long arrived_at;
    unsigned is_last = 0;
    if (*(volatile unsigned*)&state->is_built == 0) {
        for (unsigned p = blockIdx.x * blockDim.x + threadIdx.x; p < n_lines; p += gridDim.x * blockDim.x) {
            unsigned next = place(p + 1 == n_lines ? 0 : p + 1, n_lines, bits);
            chain[place(p, n_lines, bits) * 16ull] = (unsigned long long)(chain + next * 16ull);
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            is_last = atomicAdd(&state->n_arrived, 1) == gridDim.x - 1;
            __threadfence();
        }
    } else {
        is_last = blockIdx.x == 0;
    }
    if (threadIdx.x != 0 || is_last == 0) {
        return;
    }
    unsigned start = state->position;
    unsigned long long at = (unsigned long long)(chain + place(start, n_lines, bits) * 16ull);
    at = follow(at, n_warm);
    arrived_at = at;
    unsigned long long from_ns = nanoseconds();
    long long from = clock64();
    at = follow(at, n_hops);
    arrived_at = at;
    long long to = clock64();
    unsigned long long to_ns = nanoseconds();
    cycles[0] = to - from;
    nanos[0] = to_ns - from_ns;
    out[0] = (unsigned)((arrived_at - (unsigned long long)chain) / 128);
    state->position = (start + n_warm + n_hops) % n_lines;
    state->is_built = 1;
}
