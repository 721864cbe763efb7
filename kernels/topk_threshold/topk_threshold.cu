// The K largest magnitudes of N floats with their places, without sorting: a histogram of the upper 11 bits tells in which bin
// the K-th lies; a second read collects what is above that bin and, apart, what is in it; the lower 20 bits are settled on
// those alone. Of numbers equal to the K-th all are taken.
//
// `state` holds the three histograms (2048, 1024, 1024) and then the words named below.

#define COUNTS_0 0
#define COUNTS_1 2048
#define COUNTS_2 3072
#define N_OUT 4096
#define N_INSIDE 4097
// The bin of each level, and how many of it are still wanted.
#define BIN(level) (4098 + 2 * (level))
#define WANTED(level) (4099 + 2 * (level))
#define PER_THREAD 32

__device__ __forceinline__ unsigned magnitude(unsigned word) { return word & 0x7FFFFFFFu; }

extern "C" __global__ void clear(unsigned* state) {
    for (unsigned i = threadIdx.x; i < 4112; i += blockDim.x) state[i] = 0;
}

// Eight sub-blocks of 256 × 4 words a turn of a block, N_TURNS turns.
extern "C" __global__ void __launch_bounds__(256) histogram(const uint4* __restrict__ input, unsigned* __restrict__ state) {
    __shared__ unsigned counts[2048];
    for (unsigned i = threadIdx.x; i < 2048; i += 256) counts[i] = 0;
    __syncthreads();
    for (unsigned turn = 0; turn < N_TURNS; ++turn) {
        const uint4* from = input + ((unsigned long long)blockIdx.x * N_TURNS + turn) * (256 * PER_THREAD / 4) + threadIdx.x;
        uint4 four[PER_THREAD / 4];
#pragma unroll
        for (int i = 0; i < PER_THREAD / 4; ++i) four[i] = __ldcs(from + i * 256);
#pragma unroll
        for (int i = 0; i < PER_THREAD / 4; ++i) {
            atomicAdd(&counts[magnitude(four[i].x) >> 20], 1u);
            atomicAdd(&counts[magnitude(four[i].y) >> 20], 1u);
            atomicAdd(&counts[magnitude(four[i].z) >> 20], 1u);
            atomicAdd(&counts[magnitude(four[i].w) >> 20], 1u);
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 2048; i += 256) {
        if (counts[i] > 0) atomicAdd(&state[COUNTS_0 + i], counts[i]);
    }
}

// The bin of a level in which the wanted number is reached, counted from the top. One block of 1024.
extern "C" __global__ void pick(unsigned* state, unsigned level, unsigned k) {
    __shared__ unsigned sums[1024];
    unsigned first = level == 0 ? COUNTS_0 : level == 1 ? COUNTS_1 : COUNTS_2, each = level == 0 ? 2 : 1;
    unsigned wanted = level == 0 ? k : state[WANTED(level - 1)];
    // The thread's bins, the upper one first.
    unsigned top = (1024 - threadIdx.x) * each - 1, upper = state[first + top], lower = each == 2 ? state[first + top - 1] : 0;
    unsigned sum = upper + lower;
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned apart = 1; apart < 1024; apart *= 2) {
        unsigned other = threadIdx.x >= apart ? sums[threadIdx.x - apart] : 0;
        __syncthreads();
        sum += other;
        sums[threadIdx.x] = sum;
        __syncthreads();
    }
    unsigned before = sum - upper - lower;
    if (before < wanted && wanted <= sum) {
        bool is_upper = wanted <= before + upper;
        state[BIN(level)] = is_upper ? top : top - 1;
        state[WANTED(level)] = wanted - before - (is_upper ? 0 : upper);
    }
}

// Where the lane's `n` entries begin among those of its block; `all` gets their sum; whether all have added is the caller's barrier.
__device__ __forceinline__ unsigned place(unsigned n, unsigned* all) {
    unsigned lane = threadIdx.x % 32, sum = n;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        unsigned other = __shfl_up_sync(0xFFFFFFFFu, sum, apart);
        if (lane >= apart) sum += other;
    }
    unsigned base = 0;
    if (lane == 31 && sum > 0) base = atomicAdd(all, sum);
    return __shfl_sync(0xFFFFFFFFu, base, 31) + sum - n;
}

// Collects what is above the bin in `out` and what is in it in `inside`, as (place, word).
extern "C" __global__ void __launch_bounds__(256)
    split(const uint4* __restrict__ input, unsigned* __restrict__ state, uint2* __restrict__ out, uint2* __restrict__ inside,
          unsigned most_out, unsigned most_inside) {
    __shared__ unsigned found[2], base[2];
    unsigned bin = state[BIN(0)];
    for (unsigned turn = 0; turn < N_TURNS; ++turn) {
        unsigned long long first = ((unsigned long long)blockIdx.x * N_TURNS + turn) * (256 * PER_THREAD / 4) + threadIdx.x;
        uint4 four[PER_THREAD / 4];
#pragma unroll
        for (int i = 0; i < PER_THREAD / 4; ++i) four[i] = __ldcs(input + first + i * 256);
        if (threadIdx.x < 2) found[threadIdx.x] = 0;
        __syncthreads();
        unsigned n_above = 0, n_inside = 0;
#pragma unroll
        for (int i = 0; i < PER_THREAD; ++i) {
            const uint4& at = four[i / 4];
            unsigned own = magnitude(i % 4 == 0 ? at.x : i % 4 == 1 ? at.y : i % 4 == 2 ? at.z : at.w) >> 20;
            n_above += own > bin, n_inside += own == bin;
        }
        unsigned above = place(n_above, &found[0]), within = place(n_inside, &found[1]);
        __syncthreads();
        if (threadIdx.x < 2 && found[threadIdx.x] > 0) base[threadIdx.x] = atomicAdd(&state[N_OUT + threadIdx.x], found[threadIdx.x]);
        __syncthreads();
        if (n_above + n_inside > 0) {
            above += base[0], within += base[1];
#pragma unroll
            for (int i = 0; i < PER_THREAD; ++i) {
                const uint4& at = four[i / 4];
                unsigned word = i % 4 == 0 ? at.x : i % 4 == 1 ? at.y : i % 4 == 2 ? at.z : at.w, own = magnitude(word) >> 20;
                uint2 entry = make_uint2((unsigned)((first + i / 4 * 256) * 4) + i % 4, word);
                if (own > bin && above < most_out) out[above] = entry;
                if (own == bin && within < most_inside) inside[within] = entry;
                above += own > bin, within += own == bin;
            }
        }
        __syncthreads();
    }
}

// Counts the next ten bits of what is in the bins picked so far.
extern "C" __global__ void __launch_bounds__(256)
    refine(const uint2* __restrict__ inside, unsigned* __restrict__ state, unsigned level) {
    __shared__ unsigned counts[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += 256) counts[i] = 0;
    __syncthreads();
    unsigned n = state[N_INSIDE], bin = state[BIN(1)];
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        unsigned word = inside[i].y, upper = word >> 10 & 1023u;
        if (level == 1) atomicAdd(&counts[upper], 1u);
        if (level == 2 && upper == bin) atomicAdd(&counts[word & 1023u], 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 1024; i += 256) {
        if (counts[i] > 0) atomicAdd(&state[(level == 1 ? COUNTS_1 : COUNTS_2) + i], counts[i]);
    }
}

// What is in the bin and not below the K-th joins the rest.
extern "C" __global__ void __launch_bounds__(256)
    finish(const uint2* __restrict__ inside, unsigned* __restrict__ state, uint2* __restrict__ out, unsigned most_out) {
    unsigned n = state[N_INSIDE], least = state[BIN(1)] << 10 | state[BIN(2)];
    for (unsigned first = blockIdx.x * 256; first < n; first += gridDim.x * 256) {
        unsigned i = first + threadIdx.x;
        uint2 entry = i < n ? inside[i] : make_uint2(0, 0);
        bool is_taken = i < n && (entry.y & 0xFFFFFu) >= least;
        unsigned at = place(is_taken, &state[N_OUT]);
        if (is_taken && at < most_out) out[at] = entry;
    }
}
