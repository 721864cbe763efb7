// Cycles of a warp load from shared memory when 32 warps load side by side.
// The array lies in rows of 32 words with `pad` unused words after each row; with `swizzle` the column, in pieces of the
// access width, is combined with the row. Lane l reads WORDS words from logical word l * stride * WORDS on; four such
// loads, 1024 logical words apart, run side by side, which moves every lane by the same number of whole bank rows.
// Addresses depend on `drift`, which is 0 at run time: the compiler cannot know, so it neither merges nor hoists a load.

#define LOADS 4
#define APART 1024

extern __shared__ unsigned tile[];

__device__ unsigned place(unsigned word, unsigned pad, unsigned swizzle) {
    unsigned row = word / 32, col = word % 32;
    unsigned pieces = 32 / WORDS;
    unsigned piece = swizzle ? (col / WORDS) ^ (row % pieces) : col / WORDS;
    return row * (32 + pad) + piece * WORDS + col % WORDS;
}

__device__ unsigned load(unsigned address) {
#if WORDS == 1
    unsigned a;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(address));
    return a;
#elif WORDS == 2
    unsigned a, b;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(address));
    return a + b;
#else
    unsigned a, b, c, d;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address));
    return a + b + (c + d);
#endif
}

extern "C" __global__ void __launch_bounds__(1024) shared_banks(const unsigned* __restrict__ input,
                                                                unsigned* __restrict__ out,
                                                                unsigned long long* __restrict__ cycles, unsigned n_words,
                                                                unsigned stride, unsigned pad, unsigned swizzle,
                                                                unsigned n_warm, unsigned n_rounds, unsigned drift) {
    for (unsigned word = threadIdx.x; word < n_words; word += blockDim.x) {
        tile[place(word, pad, swizzle)] = input[word];
    }
    unsigned lane = threadIdx.x % 32;
    unsigned base = (unsigned)__cvta_generic_to_shared(tile);
    unsigned address = base + 4 * place(lane * stride * WORDS, pad, swizzle);
    unsigned apart = 4 * (APART / 32) * (32 + pad);
    unsigned sum = 0;
    long long start = 0, end = 0;
    // The first turn warms the instruction cache, the second is timed: the same code.
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
        unsigned rounds = turn == 0 ? n_warm : n_rounds;
        __syncthreads();
        start = clock64();
#pragma unroll 16
        for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
            for (int k = 0; k < LOADS; ++k) {
                sum += load(address + k * apart);
            }
            address += drift;
        }
        __syncthreads();
        end = clock64();
    }
    // One word a block, added up by atomics so that no further load from shared memory is counted.
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (lane == 0) {
        atomicAdd(&out[blockIdx.x], sum);
    }
    if (threadIdx.x == 0) {
        cycles[blockIdx.x] = end - start;
    }
}
