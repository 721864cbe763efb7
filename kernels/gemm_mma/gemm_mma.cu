// out = x times w transposed, both bf16 with K side by side, N × N × N, on the tensor cores by mma.sync (sm_80 and later). A block makes
// BM × BN of the result, a warp 64 × 64 or less of it in registers. Slices of 64 k travel by cp.async through STAGES buffers; pieces
// of 16 bytes are swizzled, so that neither the copies nor ldmatrix meet a bank conflict. What the next 16 k need is loaded into
// registers while the tensor cores work on these.

#if __CUDA_ARCH__ >= 800
#define SLICE 64
#define THREADS (WARPS_M * WARPS_N * 32)
#define ROWS (BM / WARPS_M / 16)
#define COLUMNS (BN / WARPS_N / 8)
#define STAGE_BYTES ((BM + BN) * SLICE * 2)

// Where piece `piece` (16 bytes) of row `row` of a slice lies.
__device__ __forceinline__ unsigned place(unsigned row, unsigned piece) { return row * 128 + (piece ^ row % 8) * 16; }

// Starts the copies of a slice of `rows` rows; a thread goes down the rows with its piece.
template <int rows> __device__ __forceinline__ void fetch(unsigned to, const unsigned short* from, unsigned n) {
#pragma unroll
    for (unsigned row = 0; row < rows; row += THREADS / 8) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + row * 128), "l"(from + (unsigned long long)row * n) : "memory");
    }
}

__device__ __forceinline__ void load4(unsigned* to, unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void multiply(float* sum, const unsigned* x, const unsigned* w) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w[0]), "r"(w[1]));
}

struct Fragments {
    unsigned x[ROWS][4], w[COLUMNS][2];
};

// What a warp needs of 16 k, from its rows of x and of w.
__device__ __forceinline__ void load(Fragments& to, unsigned x, unsigned w, unsigned k, unsigned lane) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        load4(to.x[i], x + place(i * 16 + lane % 16, k * 2 + lane / 16));
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j += 2) {
        load4(to.w[j], w + place(j * 8 + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2));
    }
}
#endif

extern "C" __global__ void __launch_bounds__(WARPS_M* WARPS_N * 32)
    gemm_mma(const unsigned short* __restrict__ x, const unsigned short* __restrict__ w, unsigned short* __restrict__ out, unsigned n) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    // GROUP rows of tiles together, column by column: blocks that run at one time read few rows of both.
    unsigned band = GROUP * (n / BN), tile = blockIdx.x;
    unsigned row = (tile / band * GROUP + tile % GROUP) * BM, column = tile % band / GROUP * BN;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned warp_row = warp / WARPS_N * (BM / WARPS_M), warp_column = warp % WARPS_N * (BN / WARPS_N);
    unsigned piece = place(threadIdx.x / 8, threadIdx.x % 8);
    x += (unsigned long long)(row + threadIdx.x / 8) * n + threadIdx.x % 8 * 8;
    w += (unsigned long long)(column + threadIdx.x / 8) * n + threadIdx.x % 8 * 8;
    auto start = [&](unsigned slice) {
        if (slice < n / SLICE) {
            unsigned to = base + slice % STAGES * STAGE_BYTES + piece;
            fetch<BM>(to, x + slice * SLICE, n);
            fetch<BN>(to + BM * 128, w + slice * SLICE, n);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    auto await = [&] {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
    };
    Fragments fragments[2];
    auto take = [&](unsigned slice, unsigned k) {
        unsigned from = base + slice % STAGES * STAGE_BYTES;
        load(fragments[k % 2], from + warp_row * 128, from + (BM + warp_column) * 128, k, lane);
    };
    float sum[ROWS][COLUMNS][4] = {};
    for (unsigned slice = 0; slice < STAGES - 1; ++slice) {
        start(slice);
    }
    await();
    take(0, 0);
#pragma unroll 1
    for (unsigned slice = 0; slice < n / SLICE; ++slice) {
#pragma unroll
        for (unsigned k = 0; k < SLICE / 16; ++k) {
            if (k == SLICE / 16 - 1) {
                await();
            }
            take(slice + (k + 1) / (SLICE / 16), (k + 1) % (SLICE / 16));
            if (k == 0) {
                start(slice + STAGES - 1);
            }
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    multiply(sum[i][j], fragments[k % 2].x[i], fragments[k % 2].w[j]);
                }
            }
        }
    }
    // A lane holds two neighbours of one row, and the same eight rows further down.
    unsigned* to = (unsigned*)(out + (unsigned long long)(row + warp_row + lane / 4) * n + column + warp_column) + lane % 4;
#pragma unroll
    for (int i = 0; i < ROWS * 2; ++i) {
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            const float* pair = &sum[i / 2][j][i % 2 * 2];
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(to[(unsigned long long)i * 4 * n + j * 4]) : "f"(pair[1]), "f"(pair[0]));
        }
    }
#endif
}
