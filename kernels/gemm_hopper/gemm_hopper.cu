// out = x times w transposed, both bf16 with K side by side, N × N × N, for a Hopper (sm_90a). One block an SM stays and takes tile after tile of
// 128 × 256: persistent. Its last warp does nothing but start copies of 64 k by TMA, the copy engine, which lays rows of 128 bytes
// in swizzled order; eight warps in two groups multiply, straight from shared memory, 64 rows each. Two mbarriers a stage pass it to
// and fro: `full` when its bytes have come, `empty` when all eight warps have read it. With SHARE 2 two neighbouring blocks make
// tiles of the same columns: each fetches half of w, and the engine lays it into the shared memory of both.

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define SLICE 64
#define X_BYTES (128 * SLICE * 2)
#define STAGE_BYTES (X_BYTES + 256 * SLICE * 2)
// Products under way while the next are started; a single stage has to be read before it can be filled again.
#define AHEAD (STAGES > 1)

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    unsigned is_done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(is_done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!is_done);
}

// At the barrier of this block or, a lane each, at those of both that share. All that comes before are reads by wgmma, which have been
// waited for: a release for the whole cluster would be a fence, and on an H200 it halved the speed.
__device__ __forceinline__ void arrive(unsigned barrier, unsigned lane) {
#if SHARE == 1
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#else
    asm volatile("{ .reg .b32 at; mapa.shared::cluster.u32 at, %0, %1; mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [at]; }" ::"r"(barrier),
                 "r"(lane)
                 : "memory");
#endif
}

// All threads of the blocks that share have come here.
__device__ __forceinline__ void meet() {
#if SHARE == 1
    __syncthreads();
#else
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// A box of 64 k and its number of rows, from (k, row) on; its bytes are counted at the barrier.
__device__ __forceinline__ void fetch(unsigned to, const void* map, unsigned k, unsigned row, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(k), "r"(row), "r"(barrier)
                 : "memory");
}

// The same into the same place of both blocks that share, counted at the barrier of each.
__device__ __forceinline__ void fetch_for_both(unsigned to, const void* map, unsigned k, unsigned row, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
                 "[%4], %5;" ::"r"(to),
                 "l"(map), "r"(k), "r"(row), "r"(barrier), "h"((unsigned short)3)
                 : "memory");
}

// What wgmma is told of a matrix: where it starts, 1024 bytes from one eight rows to the next, swizzle of 128 bytes.
__device__ __forceinline__ unsigned long long matrix(unsigned at) {
    return (at & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// sum (64 × 256) = x (64 × 16) times w transposed + sum, or without the last term.
__device__ __forceinline__ void multiply(float (&sum)[128], unsigned long long x, unsigned long long w, int is_more) {
#define F8(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), "+f"(sum[i + 4]), "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define F32(i) F8(i), F8(i + 8), F8(i + 16), F8(i + 24)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, p, 1, 1, 0, 0; }"
        : F32(0), F32(32), F32(64), F32(96)
        : "l"(x), "l"(w), "r"(is_more));
}

// The tile numbered `tile`, GROUP rows of tiles together, column by column, so that what blocks read at one time is few rows of both.
__device__ __forceinline__ void place(unsigned tile, unsigned n, unsigned& row, unsigned& column) {
    unsigned band = GROUP * (n / 256);
    row = (tile / band * GROUP + tile % GROUP) * 128;
    column = tile % band / GROUP * 256;
}

// Four lanes hold 2 of every 8 columns; each gets one of four runs of 8, which it writes as 16 bytes.
__device__ __forceinline__ void write(unsigned short* out, const float* sum, unsigned lane) {
    unsigned part[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(part[i]) : "f"(sum[4 * i + 1]), "f"(sum[4 * i]));
    }
#pragma unroll
    for (int step = 1; step <= 2; step *= 2) {
        bool is_odd = lane & step;
#pragma unroll
        for (int low = 0; low < 4; low += step == 1 ? 2 : 1) {
            if (low + step < 4) {
                unsigned got = __shfl_xor_sync(0xFFFFFFFFu, is_odd ? part[low] : part[low + step], step);
                (is_odd ? part[low] : part[low + step]) = got;
            }
        }
    }
    *(uint4*)(out + lane % 4 * 8) = make_uint4(part[0], part[1], part[2], part[3]);
}
#endif

struct __align__(128) TensorMap {
    unsigned long long words[16];
};

#if SHARE > 1 && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define PAIRS __cluster_dims__(SHARE, 1, 1)
#else
#define PAIRS
#endif

extern "C" __global__ void PAIRS __launch_bounds__(288, 1)
    gemm_hopper(const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w_map, unsigned short* out, unsigned n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ unsigned char shared[];
    __shared__ unsigned long long barriers[2 * STAGES];
    unsigned base = ((unsigned)__cvta_generic_to_shared(shared) + 1023) & ~1023u;
    unsigned full = (unsigned)__cvta_generic_to_shared(barriers), empty = full + 8 * STAGES;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, n_tiles = n / 128 * (n / 256), turn = 0, row, column;
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * stage) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + 8 * stage), "n"(8 * SHARE) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory");
    }
    meet();
    if (warp == 8) {
        for (unsigned tile = blockIdx.x; lane == 0 && tile < n_tiles; tile += gridDim.x) {
            place(tile, n, row, column);
            for (unsigned k = 0; k < n; k += SLICE, ++turn) {
                unsigned stage = turn % STAGES, to = base + stage * STAGE_BYTES, is_here = full + 8 * stage;
                wait(empty + 8 * stage, turn / STAGES % 2 ^ 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(is_here), "n"(STAGE_BYTES) : "memory");
                fetch(to, &x_map, k, row, is_here);
#if SHARE == 1
                fetch(to + X_BYTES, &w_map, k, column, is_here);
#else
                unsigned half = blockIdx.x % 2 * 128;
                fetch_for_both(to + X_BYTES + half * SLICE * 2, &w_map, k, column + half, is_here);
#endif
            }
        }
    } else {
        float sum[128];
        for (unsigned tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
            for (unsigned k = 0; k < n; k += SLICE, ++turn) {
                unsigned stage = turn % STAGES, from = base + stage * STAGE_BYTES;
                unsigned long long x = matrix(from + warp / 4 * 64 * SLICE * 2), w = matrix(from + X_BYTES);
                wait(full + 8 * stage, turn / STAGES % 2);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int step = 0; step < SLICE / 16; ++step) {
                    multiply(sum, x + 2 * step, w + 2 * step, k + step > 0);
                }
                asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned %0;" ::"n"(AHEAD) : "memory");
                if (lane < SHARE && k + SLICE > AHEAD * SLICE) {
                    arrive(empty + 8 * ((turn - AHEAD) % STAGES), lane);
                }
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (AHEAD && lane < SHARE) {
                arrive(empty + 8 * ((turn - 1) % STAGES), lane);
            }
            place(tile, n, row, column);
            unsigned short* to = out + (unsigned long long)(row + warp * 16 + lane / 4) * n + column;
#pragma unroll
            for (int run = 0; run < 128; run += 16) {
                write(to + 2 * run, sum + run, lane);
                write(to + 8ull * n + 2 * run, sum + run + 2, lane);
            }
        }
    }
    // Nobody leaves while the other may still write here.
    meet();
#endif
}
