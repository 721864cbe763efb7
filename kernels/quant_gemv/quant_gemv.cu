// out[j][i] = Σ_k x[j][k] * w[i][k] with weights of few bits that a warp unpacks into pairs of bf16 for the tensor cores
// (sm_80 and later). FORMAT 0 bf16, 1 int8 and 2 int4 with an fp16 scale for 128 weights, 3 e4m3 with a float a row, 4 E2M1 with
// a power of two for 32 weights (MXFP4), 5 e4m3 times e4m3 as the tensor cores of sm_89 take it.
//
// The order of a sum is free. Lane 4g + t therefore takes 16 bytes of rows g and g + 8 at a time, whatever lies in them, and the
// same places of x: packed weights need no other order than their rows. Only within a 32-bit word are they packed for this: value
// 2i in the lower half, 2i + 1 in the upper, so that one mask unpacks a pair.
//
// Weights travel through a box in shared memory that only the thread itself fills and reads: several loads are under way, and
// they take no registers. With a batch of up to 8 (TILE 8) x comes through L1, beyond that through shared memory.

#if FORMAT == 0
#define BITS 16
#elif FORMAT == 2 || FORMAT == 4
#define BITS 4
#else
#define BITS 8
#endif
#define THREADS 256
#define WARPS_I (8 / WARPS_K)
#define PIECES (2 * ROW_TILES)
// Values of a row in 16 bytes, in a step of a warp; bytes of x for each value.
#define PER_LANE (128 / BITS)
#define STEP (4 * PER_LANE)
#define X_BYTES (FORMAT == 5 ? 1 : 2)
// Pieces of 16 bytes of x: of a lane, of a row.
#define X_LANE (PER_LANE * X_BYTES / 16)
#define X_ROW (4 * X_LANE)
#define PART (N_INNER / WARPS_K)
#define STEPS (PART / STEP)
#define HAS_SCALES (FORMAT == 1 || FORMAT == 2 || FORMAT == 4)
#define IS_GROUPED (FORMAT == 1 || FORMAT == 2)
#define BOX_BYTES (PIECES * THREADS * 16)
#define SCALE_BYTES (8 * ROW_TILES * 64)
#define X_STAGE (TILE > 8 ? TILE * X_ROW * 16 : 0)
#define STAGE_BYTES (BOX_BYTES + SCALE_BYTES + X_STAGE)
#define COLUMNS (TILE / 8)

#if __CUDA_ARCH__ >= 890 || (__CUDA_ARCH__ >= 800 && FORMAT != 5)
// Four lanes take 64 bytes of a row at a time; the rest of 256 comes into L2 with them, as DRAM is slow in small pieces.
__device__ __forceinline__ void copy16(unsigned to, const void* from, bool is_there) {
    int bytes = is_there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void copy4(unsigned to, const void* from) {
    asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
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

__device__ __forceinline__ unsigned read2(unsigned from) {
    unsigned short to;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(to) : "r"(from) : "memory");
    return to;
}

__device__ __forceinline__ unsigned read1(unsigned from) {
    unsigned to;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(to) : "r"(from) : "memory");
    return to;
}

__device__ __forceinline__ float from_half(unsigned bits) {
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"((unsigned short)bits));
    return out;
}

// a * b + c on both halves, each rounded once.
__device__ __forceinline__ unsigned fma2(unsigned a, unsigned b, unsigned c) {
    unsigned out;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(c));
    return out;
}

__device__ __forceinline__ void multiply(float* sum, unsigned w0, unsigned w1, unsigned w2, unsigned w3, unsigned x0,
                                         unsigned x1) {
#if FORMAT == 5
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(w0), "r"(w1), "r"(w2), "r"(w3), "r"(x0), "r"(x1));
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(w0), "r"(w1), "r"(w2), "r"(w3), "r"(x0), "r"(x1));
#endif
}

// (word & mask) | bits, in one instruction.
__device__ __forceinline__ unsigned keep(unsigned word, unsigned mask, unsigned bits) {
    unsigned out;
    asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(out) : "r"(word), "r"(mask), "r"(bits));
    return out;
}

// Four pairs of int4, stored as code + 8. The four bits become the last of the fraction of 128: 128 + code + 8, less 136.
__device__ __forceinline__ void unpack_int4(unsigned word, unsigned* to) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = fma2(keep(word >> (4 * i), 0x000F000Fu, 0x43004300u), 0x3F803F80u, 0xC308C308u);
}

// Two pairs of int8. Seven bits fit the fraction of 128; the sign bit makes what is taken off 256 instead of 128.
__device__ __forceinline__ void unpack_int8(unsigned word, unsigned* to) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        unsigned byte = word >> (8 * i);
        to[i] = fma2(keep(byte, 0x00800080u, 0x43004300u), 0xBF80BF80u, keep(byte, 0x007F007Fu, 0x43004300u));
    }
}

// Two pairs of e4m3: sign, exponent and fraction at their places in bf16, then 2^120 for the difference of the biases. What has
// no leading one has none in bf16 either.
__device__ __forceinline__ void unpack_e4m3(unsigned word, unsigned* to) {
    to[0] = fma2(keep(word << 4, 0x07F007F0u, word << 8 & 0x80008000u), 0x7B807B80u, 0x80008000u);
    to[1] = fma2(keep(word >> 4, 0x07F007F0u, word & 0x80008000u), 0x7B807B80u, 0x80008000u);
}

// Four pairs of E2M1 the same way; `scale` is 2^126 times that of the block, times 2^-64 to stay in range.
__device__ __forceinline__ void unpack_e2m1(unsigned word, unsigned scale, unsigned* to) {
    to[0] = fma2(keep(word << 6, 0x01C001C0u, word << 12 & 0x80008000u), scale, 0x80008000u);
    to[1] = fma2(keep(word << 2, 0x01C001C0u, word << 8 & 0x80008000u), scale, 0x80008000u);
    to[2] = fma2(keep(word >> 2, 0x01C001C0u, word << 4 & 0x80008000u), scale, 0x80008000u);
    to[3] = fma2(keep(word >> 6, 0x01C001C0u, word & 0x80008000u), scale, 0x80008000u);
}

// The weights that go with piece `c` of x.
__device__ __forceinline__ void unpack(const uint4& piece, int c, unsigned scale, unsigned* to) {
    const unsigned words[4] = {piece.x, piece.y, piece.z, piece.w};
#if FORMAT == 2
    unpack_int4(words[c], to);
#elif FORMAT == 4
    unpack_e2m1(words[c], scale, to);
#elif FORMAT == 1
    unpack_int8(words[2 * c], to);
    unpack_int8(words[2 * c + 1], to + 2);
#elif FORMAT == 3
    unpack_e4m3(words[2 * c], to);
    unpack_e4m3(words[2 * c + 1], to + 2);
#else
    to[0] = words[0], to[1] = words[1], to[2] = words[2], to[3] = words[3];
#endif
}

// What a thread reads: its pieces of rows g and g + 8 of the next step, scales of its warp, x of the block (of its own row with a
// batch of up to 8).
struct Source {
    const unsigned char *w, *scales, *x;
    unsigned first_j, m, n_rows;
};

// Starts the copies of one step.
__device__ __forceinline__ void fetch(unsigned stage, unsigned step, Source& from) {
#pragma unroll
    for (unsigned p = 0; p < PIECES; ++p) {
        copy16(stage + (p * THREADS + threadIdx.x) * 16, from.w + p * (N_INNER * BITS), true);
    }
    from.w += 64;
#if HAS_SCALES
    const unsigned width = FORMAT == 4 ? 4 : 2, lane = threadIdx.x % 32;
    if (lane < 4 * width * ROW_TILES) {
        const unsigned char* group = from.scales + (unsigned long long)(step * STEP / 128) * from.n_rows * width;
        copy4(stage + BOX_BYTES + threadIdx.x / 32 * (64 * ROW_TILES) + lane * 4, group);
    }
#endif
#if TILE > 8
#pragma unroll
    for (unsigned q = threadIdx.x; q < TILE * X_ROW; q += THREADS) {
        unsigned row = q / X_ROW, piece = q % X_ROW;
        // The four lanes of a row, and those of its neighbour, meet eight different banks.
        unsigned at = piece % X_LANE * 4 + piece / X_LANE;
        if (X_ROW >= 8) at ^= (row & 1) * 4;
        bool is_there = from.first_j + row < from.m;
        const unsigned char* x = from.x + (unsigned long long)(is_there ? row : 0) * (N_INNER * X_BYTES);
        copy16(stage + BOX_BYTES + SCALE_BYTES + (row * X_ROW + at) * 16, x + (step * X_ROW + piece) * 16, is_there);
    }
#endif
}

__device__ __forceinline__ uint4 input(unsigned stage, unsigned step, int column, int c, const Source& from) {
#if TILE > 8
    unsigned lane = threadIdx.x % 32, row = column * 8 + lane / 4, at = c * 4 + lane % 4;
    if (X_ROW >= 8) at ^= (row & 1) * 4;
    return read16(stage + BOX_BYTES + SCALE_BYTES + (row * X_ROW + at) * 16);
#else
    return __ldg((const uint4*)(from.x + step * (X_ROW * 16) + c * 16));
#endif
}

// The scale of a row of the warp: of integers the number, of MXFP4 the factor of the lane's own block.
__device__ __forceinline__ unsigned scale_of(unsigned stage, unsigned row) {
    unsigned box = stage + BOX_BYTES + threadIdx.x / 32 * (64 * ROW_TILES);
#if FORMAT == 4
    return ((read1(box + row * 4 + threadIdx.x % 4) + 62) << 7) * 0x00010001u;
#elif IS_GROUPED
    return read2(box + row * 2);
#else
    return 0;
#endif
}

__device__ __forceinline__ void work(float sum[ROW_TILES][COLUMNS][4], unsigned stage, unsigned step, const Source& from) {
    unsigned group = threadIdx.x % 32 / 4;
    uint4 pieces[PIECES];
    unsigned scales[PIECES];
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
        pieces[p] = read16(stage + (p * THREADS + threadIdx.x) * 16);
        scales[p] = scale_of(stage, p * 8 + group);
    }
#if IS_GROUPED
    float part[ROW_TILES][COLUMNS][4] = {};
#else
    float(*part)[COLUMNS][4] = sum;
#endif
#pragma unroll
    for (int c = 0; c < X_LANE; ++c) {
        unsigned w[PIECES][4];
#pragma unroll
        for (int p = 0; p < PIECES; ++p) unpack(pieces[p], c, scales[p], w[p]);
#pragma unroll
        for (int column = 0; column < COLUMNS; ++column) {
            uint4 x = input(stage, step, column, c, from);
#pragma unroll
            for (int r = 0; r < ROW_TILES; ++r) {
                const unsigned *low = w[2 * r], *high = w[2 * r + 1];
                multiply(part[r][column], low[0], high[0], low[1], high[1], x.x, x.y);
                multiply(part[r][column], low[2], high[2], low[3], high[3], x.z, x.w);
            }
        }
    }
#if IS_GROUPED
#pragma unroll
    for (int r = 0; r < ROW_TILES; ++r) {
        float low = from_half(scales[2 * r]), high = from_half(scales[2 * r + 1]);
#pragma unroll
        for (int column = 0; column < COLUMNS; ++column) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                sum[r][column][i] = fmaf(i < 2 ? low : high, part[r][column][i], sum[r][column][i]);
            }
        }
    }
#endif
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, TILE == 8 ? 4 : (TILE < 64 ? 2 : 1))
    quant_gemv(const unsigned char* __restrict__ w, const unsigned char* __restrict__ scales,
               const unsigned char* __restrict__ x, float* __restrict__ out, unsigned m, unsigned n_rows) {
#if __CUDA_ARCH__ >= 890 || (__CUDA_ARCH__ >= 800 && FORMAT != 5)
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Blocks that share weight rows run side by side, so that DRAM gives each weight once.
    unsigned n_tiles = (m + TILE - 1) / TILE, first_j = blockIdx.x % n_tiles * TILE;
    unsigned first_i = (blockIdx.x / n_tiles * WARPS_I + warp / WARPS_K) * (16 * ROW_TILES), part = warp % WARPS_K;
    Source from;
    from.w = w + (unsigned long long)(first_i + lane / 4) * (N_INNER / 8 * BITS) + part * (PART / 8 * BITS) + lane % 4 * 16;
    from.scales = scales + ((unsigned long long)(part * (PART / 128)) * n_rows + first_i) * (FORMAT == 4 ? 4 : 2) + lane * 4;
    from.x = x + ((unsigned long long)first_j * N_INNER + part * PART) * X_BYTES;
#if TILE == 8
    // Columns beyond the batch take its last row; nobody reads them.
    from.x += (unsigned long long)min(lane / 4, m - 1) * (N_INNER * X_BYTES) + lane % 4 * X_LANE * 16;
#endif
    from.first_j = first_j, from.m = m, from.n_rows = n_rows;
    float sum[ROW_TILES][COLUMNS][4] = {};
#pragma unroll
    for (unsigned step = 0; step < STAGES - 1; ++step) {
        fetch(base + step * STAGE_BYTES, step, from);
        close_stage();
    }
#pragma unroll 1
    for (unsigned step = 0; step < STEPS; ++step) {
        wait_stage();
#if TILE > 8
        __syncthreads();
#else
        __syncwarp();
#endif
        unsigned next = step + STAGES - 1;
        if (next < STEPS) fetch(base + next % STAGES * STAGE_BYTES, next, from);
        close_stage();
        work(sum, base + step % STAGES * STAGE_BYTES, step, from);
    }
#if WARPS_K > 1
    // The parts of a sum meet in shared memory, which the copies have left.
    float* parts = (float*)shared;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) parts[(warp * 16 + lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[0][0][i];
    __syncthreads();
    for (unsigned at = threadIdx.x; at < WARPS_I * 128; at += THREADS) {
        unsigned row = at % 16, i = at / 16 % WARPS_I, j = at / (16 * WARPS_I);
        float total = 0;
#pragma unroll
        for (unsigned k = 0; k < WARPS_K; ++k) total += parts[((i * WARPS_K + k) * 16 + row) * 8 + j];
        unsigned at_i = blockIdx.x / n_tiles * WARPS_I * 16 + i * 16 + row;
#else
#pragma unroll
    for (int at = 0; at < ROW_TILES * COLUMNS * 4; ++at) {
        int r = at / (COLUMNS * 4), column = at / 4 % COLUMNS, i = at % 4;
        unsigned at_i = first_i + r * 16 + lane / 4 + i / 2 * 8, j = column * 8 + lane % 4 * 2 + i % 2;
        float total = sum[r][column][i];
#endif
#if FORMAT == 3 || FORMAT == 5
        total *= ((const float*)scales)[at_i];
#elif FORMAT == 4
        total *= 18446744073709551616.0f;
#endif
        if (first_j + j < m) out[(unsigned long long)(first_j + j) * n_rows + at_i] = total;
    }
#endif
}
