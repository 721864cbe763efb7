// The sum of all words. Blocks cannot wait for each other inside a launch, so that somebody has to come last: a second launch, the
// block that finishes last, or nobody, where every block adds to one word.

#define ALL 0xffffffffu
// Words of a piece: 256 threads with four vectors each.
#define PIECE 4096u

__device__ __forceinline__ unsigned added(uint4 v) { return (v.x + v.y) + (v.z + v.w); }

// The sum over a block of 256 threads, known to thread 0.
__device__ __forceinline__ unsigned sum_of_block(unsigned x) {
    __shared__ unsigned parts[8];
#pragma unroll
    for (unsigned step = 16; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned w = 0; w < 8; ++w) sum += parts[w];
    __syncthreads();
    return sum;
}

__device__ __forceinline__ unsigned sum_of_piece(const uint4* in, unsigned piece) {
    const uint4* from = in + (unsigned long long)piece * (PIECE / 4) + threadIdx.x;
    uint4 v[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) v[k] = from[k * 256];
    return (added(v[0]) + added(v[1])) + (added(v[2]) + added(v[3]));
}

// What a block adds up where the grid shares all pieces.
__device__ __forceinline__ unsigned sum_of_share(const uint4* in, unsigned n_pieces) {
    unsigned sum = 0;
    for (unsigned piece = blockIdx.x; piece < n_pieces; piece += gridDim.x) sum += sum_of_piece(in, piece);
    return sum_of_block(sum);
}

__device__ __forceinline__ unsigned sum_of_parts(const unsigned* parts, unsigned n) {
    unsigned sum = 0;
    for (unsigned at = threadIdx.x; at < n; at += 256) sum += __ldcg(parts + at);
    return sum_of_block(sum);
}

// Level by level: each launch turns 4096 words into one.
extern "C" __global__ void __launch_bounds__(256) first_0(const uint4* in, unsigned* parts, unsigned* out, unsigned* count,
                                                          unsigned n_pieces) {
    unsigned sum = sum_of_block(sum_of_piece(in, blockIdx.x));
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256) level(const unsigned* parts, unsigned* out, unsigned n) {
    unsigned first = blockIdx.x * PIECE;
    unsigned sum = sum_of_parts(parts + first, min(n - first, PIECE));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Two launches: the second cannot begin before the first has ended, and that is the barrier.
extern "C" __global__ void __launch_bounds__(256) first_1(const uint4* in, unsigned* parts, unsigned* out, unsigned* count,
                                                          unsigned n_pieces) {
    unsigned sum = sum_of_share(in, n_pieces);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// One launch: a block writes its part, then counts itself. Whoever counts last knows that all parts are there, and sets the count
// back for the next time.
extern "C" __global__ void __launch_bounds__(256) first_2(const uint4* in, unsigned* parts, unsigned* out, unsigned* count,
                                                          unsigned n_pieces) {
    __shared__ bool is_last;
    unsigned sum = sum_of_share(in, n_pieces);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    sum = sum_of_parts(parts, gridDim.x);
    if (threadIdx.x == 0) {
        *out = sum;
        *count = 0;
    }
}

// Atomics: whoever adds to a word needs it cleared, which is a launch too.
extern "C" __global__ void first_3(const uint4* in, unsigned* parts, unsigned* out, unsigned* count, unsigned n_pieces) {
    if (threadIdx.x == 0) *out = 0;
}

extern "C" __global__ void __launch_bounds__(256) add_atomically(const uint4* in, unsigned* out, unsigned n_pieces) {
    unsigned sum = sum_of_share(in, n_pieces);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
