// out[j][i] = Σ_k x[j][k] * w[i][k] on the tensor cores (sm_80 and later), bf16 in, float out; with IS_SPARSE two of each four
// neighbours of a weight row are stored, and two bits say where each of them was.
//
// Weights lie in the order in which a warp takes them: tiles of 16 rows × 64 columns, in each a piece of 16 bytes a lane for every
// step of the instruction (four steps of 16 columns, or two of 32 if half are stored). Of the places, a word a lane and tile is
// enough for both sparse steps: lanes 4g and 4g + 1 hold the first step, 16 columns each of rows g (lower half) and g + 8 (upper
// half), lanes 4g + 2 and 4g + 3 the second; the selector of the instruction says which two lanes it means.

#define THREADS 256
#define STEPS_K (IS_SPARSE ? 2 : 4)
#define TILES_K (N_INNER / 64)
#define BOX_BYTES (ROW_TILES * STEPS_K * THREADS * 16)
#define PLACE_BYTES (IS_SPARSE ? ROW_TILES * THREADS * 4 : 0)
#define STAGE_BYTES (BOX_BYTES + PLACE_BYTES + TILE * 128)
#define COLUMNS (TILE / 8)

#if __CUDA_ARCH__ >= 800
// Since CUDA 12.5 the instruction may rely on places in rising order.
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1205
#define ORDERED "::ordered_metadata"
#else
#define ORDERED ""
#endif

__device__ __forceinline__ void copy16(unsigned to, const void* from, bool is_there) {
    int bytes = is_there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void copy4(unsigned to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void close_stage() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ __forceinline__ void wait_stage() { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory"); }

__device__ __forceinline__ uint4 read16(unsigned from) {
    uint4 to;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
                 : "r"(from)
                 : "memory");
    return to;
}

__device__ __forceinline__ unsigned read4(unsigned from) {
    unsigned to;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(to) : "r"(from) : "memory");
    return to;
}

__device__ __forceinline__ uint4 matrices(unsigned from) {
    uint4 to;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
                 : "r"(from)
                 : "memory");
    return to;
}

__device__ __forceinline__ void multiply(float* sum, const uint4& w, unsigned x0, unsigned x1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w), "r"(x0), "r"(x1));
}

// SELECTOR 0: lanes 4g and 4g + 1 hold the places; 1: lanes 4g + 2 and 4g + 3.
template <int SELECTOR>
__device__ __forceinline__ void multiply_kept(float* sum, const uint4& w, const uint4& x, unsigned places) {
    asm("mma.sp" ORDERED
        ".sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "
        "{%0, %1, %2, %3}, %12, %13;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(places), "n"(SELECTOR));
}

struct Source {
    // Of the warp's first tile and of the block's first batch row.
    const unsigned char *w, *places, *x;
    unsigned first_j, m;
};

// Starts the copies of 64 columns.
__device__ __forceinline__ void fetch(unsigned stage, unsigned tile_k, const Source& from) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned r = 0; r < ROW_TILES; ++r) {
        unsigned long long tile = (unsigned long long)r * TILES_K + tile_k;
#pragma unroll
        for (unsigned s = 0; s < STEPS_K; ++s) {
            copy16(stage + ((r * STEPS_K + s) * THREADS + threadIdx.x) * 16, from.w + ((tile * STEPS_K + s) * 32 + lane) * 16,
                   true);
        }
        if (IS_SPARSE) copy4(stage + BOX_BYTES + (r * THREADS + threadIdx.x) * 4, from.places + (tile * 32 + lane) * 4);
    }
#pragma unroll
    for (unsigned q = threadIdx.x; q < TILE * 8; q += THREADS) {
        unsigned row = q / 8, piece = q % 8;
        bool is_there = from.first_j + row < from.m;
        const unsigned char* x = from.x + (unsigned long long)(is_there ? row : 0) * (N_INNER * 2);
        copy16(stage + BOX_BYTES + PLACE_BYTES + row * 128 + (piece ^ (row & 7)) * 16, x + (tile_k * 8 + piece) * 16, is_there);
    }
}

__device__ __forceinline__ void work(float sum[ROW_TILES][COLUMNS][4], unsigned stage) {
    unsigned lane = threadIdx.x % 32;
    uint4 w[ROW_TILES][STEPS_K];
    unsigned places[ROW_TILES];
#pragma unroll
    for (int r = 0; r < ROW_TILES; ++r) {
#pragma unroll
        for (int s = 0; s < STEPS_K; ++s) w[r][s] = read16(stage + ((r * STEPS_K + s) * THREADS + threadIdx.x) * 16);
        places[r] = IS_SPARSE ? read4(stage + BOX_BYTES + (r * THREADS + threadIdx.x) * 4) : 0;
    }
#pragma unroll
    for (int column = 0; column < COLUMNS; ++column) {
        // Eight batch rows, 32 columns a time.
        unsigned row = stage + BOX_BYTES + PLACE_BYTES + (column * 8 + lane % 8) * 128;
        uint4 first = matrices(row + ((lane / 8) ^ (lane % 8)) * 16);
        uint4 second = matrices(row + ((4 + lane / 8) ^ (lane % 8)) * 16);
#pragma unroll
        for (int r = 0; r < ROW_TILES; ++r) {
#if IS_SPARSE
            multiply_kept<0>(sum[r][column], w[r][0], first, places[r]);
            multiply_kept<1>(sum[r][column], w[r][1], second, places[r]);
#else
            multiply(sum[r][column], w[r][0], first.x, first.y);
            multiply(sum[r][column], w[r][1], first.z, first.w);
            multiply(sum[r][column], w[r][2], second.x, second.y);
            multiply(sum[r][column], w[r][3], second.z, second.w);
#endif
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, TILE == 8 ? 4 : (TILE < 64 ? 2 : 1))
    sparse_24(const unsigned char* __restrict__ w, const unsigned char* __restrict__ places,
              const unsigned char* __restrict__ x, float* __restrict__ out, unsigned m, unsigned n_rows) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Blocks that share weight rows run side by side, so that DRAM gives each weight once.
    unsigned n_tiles = (m + TILE - 1) / TILE, first_j = blockIdx.x % n_tiles * TILE;
    unsigned first_i = (blockIdx.x / n_tiles * 8 + warp) * (16 * ROW_TILES);
    unsigned long long first_tile = (unsigned long long)(first_i / 16) * TILES_K;
    Source from;
    from.w = w + first_tile * (STEPS_K * 512);
    from.places = places + first_tile * 128;
    from.x = x + (unsigned long long)first_j * (N_INNER * 2);
    from.first_j = first_j, from.m = m;
    float sum[ROW_TILES][COLUMNS][4] = {};
#pragma unroll
    for (unsigned tile_k = 0; tile_k < STAGES - 1; ++tile_k) {
        fetch(base + tile_k * STAGE_BYTES, tile_k, from);
        close_stage();
    }
#pragma unroll 1
    for (unsigned tile_k = 0; tile_k < TILES_K; ++tile_k) {
        wait_stage();
        __syncthreads();
        unsigned next = tile_k + STAGES - 1;
        if (next < TILES_K) fetch(base + next % STAGES * STAGE_BYTES, next, from);
        close_stage();
        work(sum, base + tile_k % STAGES * STAGE_BYTES);
    }
#pragma unroll
    for (int at = 0; at < ROW_TILES * COLUMNS * 4; ++at) {
        int r = at / (COLUMNS * 4), column = at / 4 % COLUMNS, i = at % 4;
        unsigned at_i = first_i + r * 16 + lane / 4 + i / 2 * 8, j = column * 8 + lane % 4 * 2 + i % 2;
        if (first_j + j < m) out[(unsigned long long)(first_j + j) * n_rows + at_i] = sum[r][column][i];
    }
#endif
}
