// Sums of all words up to each one, in three ways. A tile is 8192 words: 8 warps, each with 8 rows of 32 vectors of four words.

#define ALL 0xffffffffu
#define WARPS 8
#define ROWS 8
#define TILE_VECTORS (WARPS * ROWS * 32)

// What a tile has told: nothing yet, the sum of its own words, or of all words up to its end.
#define NOTHING 0u
#define OWN 1u
#define UP_TO 2u

__device__ __forceinline__ unsigned sum_of_warp(unsigned x) {
#pragma unroll
    for (unsigned step = 16; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    return x;
}

// The sum of this lane's and all lower lanes' words.
__device__ __forceinline__ unsigned scan_of_warp(unsigned x) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        unsigned below = __shfl_up_sync(ALL, x, step);
        if (lane >= step) x += below;
    }
    return x;
}

__device__ __forceinline__ unsigned long long first_of(unsigned tile) {
    return (unsigned long long)tile * TILE_VECTORS + threadIdx.x / 32 * (ROWS * 32) + threadIdx.x % 32;
}

__device__ __forceinline__ unsigned added(uint4 v) { return (v.x + v.y) + (v.z + v.w); }

// Sums up to each word within the part of a warp; the sum of all of it.
__device__ __forceinline__ unsigned scan_rows(uint4 v[ROWS]) {
    unsigned before = 0;
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) {
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        unsigned up_to = scan_of_warp(v[k].w);
        unsigned add = before + up_to - v[k].w;
        v[k].x += add;
        v[k].y += add;
        v[k].z += add;
        v[k].w += add;
        before += __shfl_sync(ALL, up_to, 31);
    }
    return before;
}

// The sum of the warps before this one, and of all in `total`.
__device__ __forceinline__ unsigned before_warp(unsigned sum, unsigned* total) {
    __shared__ unsigned sums[WARPS];
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    unsigned before = 0, all = 0;
#pragma unroll
    for (unsigned w = 0; w < WARPS; ++w) {
        if (w == threadIdx.x / 32) before = all;
        all += sums[w];
    }
    *total = all;
    return before;
}

__device__ __forceinline__ void write_tile(uint4* to, uint4 v[ROWS], unsigned add) {
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k)
        to[k * 32] = make_uint4(v[k].x + add, v[k].y + add, v[k].z + add, v[k].w + add);
}

// Scan, then add: every tile is scanned for itself and written,
extern "C" __global__ void __launch_bounds__(256) first_0(const uint4* in, uint4* out, unsigned* sums, unsigned* status,
                                                          unsigned n_tiles) {
    unsigned long long first = first_of(blockIdx.x);
    uint4 v[ROWS];
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) v[k] = in[first + k * 32];
    unsigned total;
    unsigned before = before_warp(scan_rows(v), &total);
    write_tile(out + first, v, before);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// and once the sums of the tiles are scanned, each is read and written again.
extern "C" __global__ void __launch_bounds__(256) add_sums(uint4* out, const unsigned* sums) {
    unsigned long long first = first_of(blockIdx.x);
    uint4 v[ROWS];
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) v[k] = out[first + k * 32];
    write_tile(out + first, v, sums[blockIdx.x]);
}

// Reduce, then scan: at first every tile is only summed,
extern "C" __global__ void __launch_bounds__(256) first_1(const uint4* in, uint4* out, unsigned* sums, unsigned* status,
                                                          unsigned n_tiles) {
    unsigned long long first = first_of(blockIdx.x);
    uint4 v[ROWS];
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) v[k] = in[first + k * 32];
    unsigned sum = 0, total;
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) sum += added(v[k]);
    before_warp(sum_of_warp(sum), &total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// and scanned when it is known what comes before it.
extern "C" __global__ void __launch_bounds__(256) scan_tiles(const uint4* in, uint4* out, const unsigned* sums) {
    unsigned long long first = first_of(blockIdx.x);
    uint4 v[ROWS];
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) v[k] = in[first + k * 32];
    unsigned total;
    unsigned before = before_warp(scan_rows(v), &total);
    write_tile(out + first, v, sums[blockIdx.x] + before);
}

// Between the two: the sums of the tiles become sums of what lies before each. One block of 1024 threads.
extern "C" __global__ void __launch_bounds__(1024) scan_sums(unsigned* sums, unsigned n_tiles) {
    __shared__ unsigned parts[32];
    unsigned before = 0;
    for (unsigned from = 0; from < n_tiles; from += 1024) {
        unsigned at = from + threadIdx.x;
        unsigned own = at < n_tiles ? sums[at] : 0;
        unsigned up_to = scan_of_warp(own);
        if (threadIdx.x % 32 == 31) parts[threadIdx.x / 32] = up_to;
        __syncthreads();
        unsigned all = 0, lower = 0;
        for (unsigned w = 0; w < 32; ++w) {
            if (w == threadIdx.x / 32) lower = all;
            all += parts[w];
        }
        if (at < n_tiles) sums[at] = before + lower + up_to - own;
        before += all;
        __syncthreads();
    }
}

// One pass: nobody has told anything yet,
extern "C" __global__ void first_2(const uint4* in, uint4* out, unsigned* sums, unsigned* status, unsigned n_tiles) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < 2 * n_tiles + 2) status[at] = 0;
}

// The sum of all words before a tile. A warp looks back, 32 tiles at a time, until one of them knows the sum of all up to its end.
__device__ __forceinline__ unsigned look_back(volatile unsigned long long* told, unsigned tile) {
    unsigned lane = threadIdx.x % 32, before = 0;
    for (int nearest = (int)tile - 1;; nearest -= 32) {
        int at = nearest - (int)lane;
        unsigned long long word = UP_TO;
        do {
            if (at >= 0) word = told[at];
        } while (__any_sync(ALL, (unsigned)word == NOTHING));
        unsigned knowing = __ballot_sync(ALL, (unsigned)word == UP_TO);
        // Lanes beyond the nearest one that knows would be counted twice.
        unsigned last = knowing ? __ffs(knowing) - 1 : 31;
        before += sum_of_warp(lane <= last ? (unsigned)(word >> 32) : 0);
        if (knowing) return before;
    }
}

// then each tile tells its own sum, looks back, tells the sum up to its end. Tiles are taken in the order in which blocks come, so
// that whoever waits waits for one that already runs. Sum and mark are one word of 64 bits: they are seen together.
extern "C" __global__ void __launch_bounds__(256) one_pass(const uint4* in, uint4* out, unsigned* status, unsigned n_tiles) {
    __shared__ unsigned taken, carried;
    volatile unsigned long long* told = (volatile unsigned long long*)status;
    if (threadIdx.x == 0) taken = atomicAdd(&status[2 * n_tiles], 1);
    __syncthreads();
    unsigned tile = taken;
    unsigned long long first = first_of(tile);
    uint4 v[ROWS];
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) v[k] = in[first + k * 32];
    unsigned total;
    unsigned before = before_warp(scan_rows(v), &total);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) told[tile] = (unsigned long long)total << 32 | OWN;
        unsigned sum = look_back(told, tile);
        if (threadIdx.x == 0) {
            told[tile] = (unsigned long long)(sum + total) << 32 | UP_TO;
            carried = sum;
        }
    }
    __syncthreads();
    write_tile(out + first, v, carried + before);
}
