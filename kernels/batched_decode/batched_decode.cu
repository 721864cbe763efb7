// out[j][i] = Σ_k x[j][k] * w[i][k], bf16 in and out, added in fp32 by the tensor cores (sm_80 and later). The weights of
// all matrices lie one under the other, n_rows rows of N_INNER; j < m is the batch. With w_rows below n_rows the same
// weights come again.
//
// A block makes 128 weight rows × TILE batch rows. The weights take the 16-row side of the instruction, so that a batch
// of one wastes 7 columns of 8 and not 15 rows of 16. Slices of 64 k travel through STAGES buffers in shared memory;
// 16-byte pieces are swizzled, so that neither copies nor ldmatrix meet a bank conflict.

#if __CUDA_ARCH__ >= 800
#define ROWS 128
#define SLICE 64
#define THREADS (WARPS_I * WARPS_J * 32)
#define PER_WARP_I (ROWS / WARPS_I / 16)
#define PER_WARP_J (TILE / WARPS_J / 8)
#define STAGE_BYTES ((ROWS + TILE) * SLICE * 2)

__device__ __forceinline__ void copy16(unsigned to, const void* from, bool is_there) {
    int bytes = is_there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// Where piece `piece` (16 bytes) of row `row` lies in a slice.
__device__ __forceinline__ unsigned swizzled(unsigned row, unsigned piece) { return row * 128 + ((piece ^ (row & 7)) * 16); }

__device__ __forceinline__ void load4(unsigned* to, unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void load2(unsigned* to, unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void multiply(float* sum, const unsigned* w, const unsigned* x) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(x[0]), "r"(x[1]));
}

__device__ __forceinline__ unsigned short to_bf16(float value) {
    unsigned short out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(value));
    return out;
}

// Starts the copies of one slice of both operands. A thread keeps its piece of a row and goes down the rows, so that
// addresses differ by constants.
__device__ __forceinline__ void fetch(unsigned stage, const unsigned short* w, const unsigned short* x, unsigned j,
                                      unsigned m) {
    unsigned to = stage + swizzled(threadIdx.x / 8, threadIdx.x % 8);
#pragma unroll
    for (unsigned row = 0; row < ROWS; row += THREADS / 8) {
        copy16(to + row * 128, w + (unsigned long long)row * N_INNER, true);
    }
    if (TILE >= THREADS / 8 || threadIdx.x < TILE * 8) {
#pragma unroll
        for (unsigned row = 0; row < TILE; row += THREADS / 8) {
            bool is_there = j + row < m;
            copy16(to + (ROWS + row) * 128, x + (is_there ? (unsigned long long)row * N_INNER : 0), is_there);
        }
    }
}

// What one step of 16 k needs from shared memory.
struct Fragments {
    unsigned w[PER_WARP_I][4];
    unsigned x[PER_WARP_J][2];
};

__device__ __forceinline__ void load(Fragments& to, unsigned stage, unsigned row_i, unsigned row_j, unsigned k) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < PER_WARP_I; ++i) {
        load4(to.w[i], stage + swizzled(row_i + i * 16 + lane % 16, k * 2 + lane / 16));
    }
    if (PER_WARP_J == 1) {
        load2(to.x[0], stage + ROWS * 128 + swizzled(row_j + lane % 8, k * 2 + lane / 8 % 2));
    } else {
#pragma unroll
        for (int j = 0; j < PER_WARP_J; j += 2) {
            load4(to.x[j], stage + ROWS * 128 + swizzled(row_j + j * 8 + lane % 8 + lane / 16 * 8, k * 2 + lane / 8 % 2));
        }
    }
}

// The products of one slice; the fragments of the next step are loaded while the tensor cores work on these.
__device__ __forceinline__ void work(float sum[PER_WARP_I][PER_WARP_J][4], unsigned stage, unsigned row_i, unsigned row_j) {
    Fragments fragments[2];
    load(fragments[0], stage, row_i, row_j, 0);
#pragma unroll
    for (unsigned k = 0; k < SLICE / 16; ++k) {
        if (k + 1 < SLICE / 16) {
            load(fragments[(k + 1) % 2], stage, row_i, row_j, k + 1);
        }
#pragma unroll
        for (int i = 0; i < PER_WARP_I; ++i) {
#pragma unroll
            for (int j = 0; j < PER_WARP_J; ++j) {
                multiply(sum[i][j], fragments[k % 2].w[i], fragments[k % 2].x[j]);
            }
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(WARPS_I* WARPS_J * 32)
    batched_decode(const unsigned short* __restrict__ w, const unsigned short* __restrict__ x, unsigned short* __restrict__ out,
               unsigned m, unsigned n_rows, unsigned w_rows) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    // Blocks that share weight rows run side by side, so that DRAM gives each weight once.
    unsigned n_tiles_j = (m + TILE - 1) / TILE;
    unsigned first_i = blockIdx.x / n_tiles_j * ROWS, first_j = blockIdx.x % n_tiles_j * TILE;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned row_i = warp / WARPS_J * (ROWS / WARPS_I), row_j = warp % WARPS_J * (TILE / WARPS_J);
    unsigned row = threadIdx.x / 8, piece = threadIdx.x % 8;
    w += (unsigned long long)(first_i % w_rows + row) * N_INNER + piece * 8;
    x += (unsigned long long)(first_j + row < m ? first_j + row : 0) * N_INNER + piece * 8;
    float sum[PER_WARP_I][PER_WARP_J][4] = {};
#pragma unroll
    for (unsigned slice = 0; slice < STAGES - 1; ++slice) {
        fetch(base + slice * STAGE_BYTES, w + slice * SLICE, x + slice * SLICE, first_j + row, m);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
#pragma unroll 1
    for (unsigned slice = 0; slice < N_INNER / SLICE; ++slice) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        unsigned next = slice + STAGES - 1;
        if (next < N_INNER / SLICE) {
            fetch(base + next % STAGES * STAGE_BYTES, w + next * SLICE, x + next * SLICE, first_j + row, m);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        work(sum, base + slice % STAGES * STAGE_BYTES, row_i, row_j);
    }
#pragma unroll
    for (int i = 0; i < PER_WARP_I; ++i) {
#pragma unroll
        for (int j = 0; j < PER_WARP_J; ++j) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                unsigned at_i = first_i + row_i + i * 16 + lane / 4 + part / 2 * 8;
                unsigned at_j = first_j + row_j + j * 8 + lane % 4 * 2 + part % 2;
                if (at_j < m) {
                    out[(unsigned long long)at_j * n_rows + at_i] = to_bf16(sum[i][j][part]);
                }
            }
        }
    }
#endif
}
