// Moves the same number of bytes at every footprint: block b works on tiles b * ROUNDS … + ROUNDS - 1 modulo n_tiles, so
// that a small footprint is walked many times and a large one once. OP 0 reads, 1 writes, 2 copies, 3 is a = b + s * c.
// Tiles are UNROLL * blockDim.x pieces of 16 bytes. L1 is passed by: what answers is L2 or DRAM.

#if OP == 0
extern "C" __global__ void footprint(unsigned* __restrict__ sums, uint4* __restrict__ a, const uint4* __restrict__ b,
                                     const uint4* __restrict__ c, unsigned n_tiles, float s) {
    unsigned sum = 0;
    unsigned tile = (blockIdx.x * ROUNDS) % n_tiles;
#pragma unroll 1
    for (int round = 0; round < ROUNDS; ++round) {
        const uint4* place = b + (unsigned long long)tile * (UNROLL * blockDim.x) + threadIdx.x;
        uint4 value[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            value[k] = __ldcg(place + k * blockDim.x);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            sum += value[k].x + value[k].y + value[k].z + value[k].w;
        }
        tile = tile + 1 == n_tiles ? 0 : tile + 1;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
    }
}
#else
#if OP == 1
// Word i of the array becomes i times an odd number: every place has its own value.
__device__ uint4 value_of(unsigned long long piece) {
    unsigned word = (unsigned)piece * 4;
    return make_uint4(word * 0x9E3779B1u, (word + 1) * 0x9E3779B1u, (word + 2) * 0x9E3779B1u, (word + 3) * 0x9E3779B1u);
}
#elif OP == 3
__device__ unsigned triad(unsigned b, unsigned c, float s) {
    return __float_as_uint(fmaf(s, __uint_as_float(c), __uint_as_float(b)));
}
#endif

extern "C" __global__ void footprint(unsigned* __restrict__ sums, uint4* __restrict__ a, const uint4* __restrict__ b,
                                     const uint4* __restrict__ c, unsigned n_tiles, float s) {
    unsigned tile = (blockIdx.x * ROUNDS) % n_tiles;
#pragma unroll 1
    for (int round = 0; round < ROUNDS; ++round) {
        unsigned long long first = (unsigned long long)tile * (UNROLL * blockDim.x) + threadIdx.x;
#if OP == 1
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            a[first + k * blockDim.x] = value_of(first + k * blockDim.x);
        }
#else
        uint4 left[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            left[k] = __ldcg(b + first + k * blockDim.x);
        }
#if OP == 3
        uint4 right[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            right[k] = __ldcg(c + first + k * blockDim.x);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            left[k] = make_uint4(triad(left[k].x, right[k].x, s), triad(left[k].y, right[k].y, s),
                                 triad(left[k].z, right[k].z, s), triad(left[k].w, right[k].w, s));
        }
#endif
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            a[first + k * blockDim.x] = left[k];
        }
#endif
        tile = tile + 1 == n_tiles ? 0 : tile + 1;
    }
}
#endif
