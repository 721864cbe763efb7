// A step of a model on one card: for each layer the products of all tokens with its weights, then the attention of each
// request over its own blocks of the cache. bf16, 32 query heads and 8 KV heads of 128 numbers, blocks of 16 tokens.
//
// The products are those of `batch_gemm`, the attention that of `decode_attention`, here with work of unequal length: a list
// says for each block of threads which queries it takes and which tokens. A decode has the four query heads of one KV head
// as its queries and its warps take turns at the tokens; a prompt's chunk has 64 queries, 16 a warp, and every warp takes
// all tokens, each query only those up to its own.

// What a block of threads does: `n` queries from `first` of a request's chunk, counted over its tokens and their heads, over
// tokens `from` to `to`. The request's blocks begin at `table`, its queries at row `row` of the batch; query q of the chunk
// stands at place `begin + q / GROUP` of the sequence. Pieces of the same queries share `place` and count to `n_splits`.
struct Item {
    unsigned table, row, first, n, begin, from, to, place, split, n_splits;
};

struct Cache {
    const unsigned short* k;
    const unsigned short* v;
    const unsigned* table;
    unsigned head;
};

#if __CUDA_ARCH__ >= 800
#define N_INNER 4096
#define ROWS 128
#define SLICE 64
#define HEAD 128
#define GROUP 4
#define N_KV 8
#define BLOCK_TOKENS 16
#define WARPS 4
#define NOTHING (-1e30f)
// Of the scores, in powers of 2: 3 ÷ ln 2, which spreads them as in a trained model.
#define SCALE 4.328085f

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

__device__ __forceinline__ void product(float* sum, const unsigned* w, const unsigned* x) {
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
template <int TILE, int THREADS>
__device__ __forceinline__ void fetch(unsigned stage, const unsigned short* w, const unsigned short* x, unsigned j,
                                      unsigned m) {
    unsigned to = stage + swizzled(threadIdx.x / 8, threadIdx.x % 8);
#pragma unroll
    for (unsigned row = 0; row < ROWS; row += THREADS / 8) {
        copy16(to + row * 128, w + (unsigned long long)row * N_INNER, true);
    }
#pragma unroll
    for (unsigned row = 0; row < TILE; row += THREADS / 8) {
        bool is_there = j + row < m;
        copy16(to + (ROWS + row) * 128, x + (is_there ? (unsigned long long)row * N_INNER : 0), is_there);
    }
}

// What one step of 16 k needs from shared memory.
template <int PER_WARP_I, int PER_WARP_J>
struct Fragments {
    unsigned w[PER_WARP_I][4];
    unsigned x[PER_WARP_J][2];
};

template <int PER_WARP_I, int PER_WARP_J>
__device__ __forceinline__ void load(Fragments<PER_WARP_I, PER_WARP_J>& to, unsigned stage, unsigned row_i,
                                     unsigned row_j, unsigned k) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < PER_WARP_I; ++i) {
        load4(to.w[i], stage + swizzled(row_i + i * 16 + lane % 16, k * 2 + lane / 16));
    }
#pragma unroll
    for (int j = 0; j < PER_WARP_J; j += 2) {
        load4(to.x[j], stage + ROWS * 128 + swizzled(row_j + j * 8 + lane % 8 + lane / 16 * 8, k * 2 + lane / 8 % 2));
    }
}

// The products of one slice; the fragments of the next step are loaded while the tensor cores work on these.
template <int PER_WARP_I, int PER_WARP_J>
__device__ __forceinline__ void work(float sum[PER_WARP_I][PER_WARP_J][4], unsigned stage, unsigned row_i, unsigned row_j) {
    Fragments<PER_WARP_I, PER_WARP_J> fragments[2];
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
                product(sum[i][j], fragments[k % 2].w[i], fragments[k % 2].x[j]);
            }
        }
    }
}

// out[j][i] = Σ_k x[j][k] · w[i][k], as in batch_gemm.
template <int TILE, int STAGES, int WARPS_I, int WARPS_J>
__device__ __forceinline__ void products(const unsigned short* w, const unsigned short* x, unsigned short* out, unsigned m,
                                         unsigned n_rows) {
    constexpr int THREADS = WARPS_I * WARPS_J * 32, PER_WARP_I = ROWS / WARPS_I / 16, PER_WARP_J = TILE / WARPS_J / 8;
    constexpr int STAGE_BYTES = (ROWS + TILE) * SLICE * 2;
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    // Blocks that share weight rows run side by side, so that DRAM gives each weight once.
    unsigned n_tiles_j = (m + TILE - 1) / TILE;
    unsigned first_i = blockIdx.x / n_tiles_j * ROWS, first_j = blockIdx.x % n_tiles_j * TILE;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned row_i = warp / WARPS_J * (ROWS / WARPS_I), row_j = warp % WARPS_J * (TILE / WARPS_J);
    unsigned row = threadIdx.x / 8, piece = threadIdx.x % 8;
    w += (unsigned long long)(first_i + row) * N_INNER + piece * 8;
    x += (unsigned long long)(first_j + row < m ? first_j + row : 0) * N_INNER + piece * 8;
    float sum[PER_WARP_I][PER_WARP_J][4] = {};
#pragma unroll
    for (unsigned slice = 0; slice < STAGES - 1; ++slice) {
        fetch<TILE, THREADS>(base + slice * STAGE_BYTES, w + slice * SLICE, x + slice * SLICE, first_j + row, m);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
#pragma unroll 1
    for (unsigned slice = 0; slice < N_INNER / SLICE; ++slice) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        unsigned next = slice + STAGES - 1;
        if (next < N_INNER / SLICE) {
            fetch<TILE, THREADS>(base + next % STAGES * STAGE_BYTES, w + next * SLICE, x + next * SLICE, first_j + row, m);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        work<PER_WARP_I, PER_WARP_J>(sum, base + slice % STAGES * STAGE_BYTES, row_i, row_j);
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
}
#else
template <int TILE, int STAGES, int WARPS_I, int WARPS_J>
__device__ void products(const unsigned short*, const unsigned short*, unsigned short*, unsigned, unsigned) {}
#endif

// The tiles that batch_gemm found fastest on an H200.
#define PRODUCTS(TILE, STAGES, WARPS_I, WARPS_J)                                                                            \
    extern "C" __global__ void __launch_bounds__(128)                                                                       \
        products_##TILE(const unsigned short* __restrict__ w, const unsigned short* __restrict__ x,                         \
                        unsigned short* __restrict__ out, unsigned m, unsigned n_rows) {                                    \
        products<TILE, STAGES, WARPS_I, WARPS_J>(w, x, out, m, n_rows);                                                     \
    }
PRODUCTS(16, 3, 4, 1)
PRODUCTS(32, 4, 4, 1)
PRODUCTS(64, 4, 4, 1)
PRODUCTS(128, 3, 2, 2)

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ void multiply(float* sum, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// An 8 × 8 matrix of 16-bit numbers, two of a row a lane, turned.
__device__ __forceinline__ unsigned turned(unsigned pair) {
    unsigned out;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
    return out;
}

__device__ __forceinline__ float power_of_2(float x) {
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

__device__ __forceinline__ unsigned packed(float low, float high) {
    unsigned out;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
}

// Where the rows of a tile begin: its 16 tokens are a block of the cache.
__device__ __forceinline__ unsigned long long rows_of(const Cache& cache, unsigned first) {
    return ((unsigned long long)__ldg(cache.table + first / BLOCK_TOKENS) * N_KV + cache.head) * BLOCK_TOKENS;
}

// A lane has the keys of tokens r and r + 8, and its pieces of the values of tokens 2c, 2c + 1, 2c + 8, 2c + 9.
__device__ __forceinline__ void load_keys(uint4* to, const Cache& cache, unsigned long long rows) {
    unsigned lane = threadIdx.x % 32;
    const uint4* from = (const uint4*)(cache.k + (rows + lane / 4) * HEAD) + lane % 4;
#pragma unroll
    for (int h = 0; h < 4; ++h) to[h] = __ldg(from + 4 * h), to[4 + h] = __ldg(from + 4 * h + HEAD);
}

__device__ __forceinline__ void load_values(uint4* to, const Cache& cache, unsigned long long rows) {
    unsigned lane = threadIdx.x % 32;
    const uint4* from = (const uint4*)(cache.v + (rows + 2 * (lane % 4)) * HEAD) + lane / 4;
#pragma unroll
    for (int t = 0; t < 4; ++t) {
#pragma unroll
        for (int h = 0; h < 2; ++h) to[2 * t + h] = __ldg(from + (t / 2 * 8 + t % 2) * (HEAD / 8) + 8 * h);
    }
}

__device__ __forceinline__ unsigned part_of(const uint4& piece, int word) {
    return word == 0 ? piece.x : word == 1 ? piece.y : word == 2 ? piece.z : piece.w;
}

// Running maximum and sum of queries 2c and 2c + 1 of each column, and what was added so far.
template <int COLUMNS>
struct Soft {
    float most[COLUMNS][2];
    float total[COLUMNS][2];
    float sum[8][COLUMNS][4];
};

template <int COLUMNS>
__device__ __forceinline__ void score(float sum[COLUMNS][4], const uint4* keys, const unsigned query[8][COLUMNS][2]) {
#pragma unroll
    for (int s = 0; s < 8; ++s) {
        unsigned a0 = part_of(keys[s / 2], s % 2 * 2), a2 = part_of(keys[s / 2], s % 2 * 2 + 1);
        unsigned a1 = part_of(keys[4 + s / 2], s % 2 * 2), a3 = part_of(keys[4 + s / 2], s % 2 * 2 + 1);
#pragma unroll
        for (int n = 0; n < COLUMNS; ++n) multiply(sum[n], a0, a1, a2, a3, query[s][n][0], query[s][n][1]);
    }
}

template <int COLUMNS>
__device__ __forceinline__ void gather(Soft<COLUMNS>& soft, const uint4* values, const unsigned p[COLUMNS][2]) {
#pragma unroll
    for (int t = 0; t < 8; ++t) {
        const unsigned pick = t % 2 ? 0x7632u : 0x5410u;
        unsigned a[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            unsigned one = part_of(values[i / 2 * 4 + i % 2], t / 2), other = part_of(values[i / 2 * 4 + 2 + i % 2], t / 2);
            a[i] = __byte_perm(one, other, pick);
        }
#pragma unroll
        for (int n = 0; n < COLUMNS; ++n) multiply(soft.sum[t][n], a[0], a[1], a[2], a[3], p[n][0], p[n][1]);
    }
}

// Turns scores into weights; `last[n][q]` is the last token that a query sees.
template <int COLUMNS>
__device__ __forceinline__ void weigh(Soft<COLUMNS>& soft, float score[COLUMNS][4], unsigned p[COLUMNS][2], unsigned first,
                                      const unsigned last[COLUMNS][2]) {
    unsigned token = first + threadIdx.x % 32 / 4;
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            float low = token <= last[n][q] ? score[n][q] * SCALE : NOTHING;
            float high = token + 8 <= last[n][q] ? score[n][2 + q] * SCALE : NOTHING;
            float most = fmaxf(soft.most[n][q], fmaxf(low, high));
#pragma unroll
            for (int step = 4; step < 32; step *= 2) most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, step));
            float shrink = power_of_2(soft.most[n][q] - most);
            soft.most[n][q] = most;
            // A query that has seen no token yet has NOTHING as its maximum, and 2 to the power 0 for each.
            score[n][q] = low > NOTHING ? power_of_2(low - most) : 0.0f;
            score[n][2 + q] = high > NOTHING ? power_of_2(high - most) : 0.0f;
            soft.total[n][q] = soft.total[n][q] * shrink + score[n][q] + score[n][2 + q];
#pragma unroll
            for (int t = 0; t < 8; ++t) soft.sum[t][n][q] *= shrink, soft.sum[t][n][2 + q] *= shrink;
        }
        p[n][0] = turned(packed(score[n][0], score[n][1]));
        p[n][1] = turned(packed(score[n][2], score[n][3]));
    }
}

// Tiles from `first` on, every `step` tokens, below `to`.
template <int COLUMNS>
__device__ __forceinline__ void attend(Soft<COLUMNS>& soft, const Cache& cache, const unsigned query[8][COLUMNS][2],
                                       const unsigned last[COLUMNS][2], unsigned first, unsigned step, unsigned to) {
    if (first >= to) return;
    uint4 keys[8], values[8];
    unsigned long long rows = rows_of(cache, first);
    load_keys(keys, cache, rows);
    load_values(values, cache, rows);
    rows = rows_of(cache, first + step < to ? first + step : first);
#pragma unroll 1
    for (; first < to; first += step) {
        float sum[COLUMNS][4] = {};
        unsigned p[COLUMNS][2];
        bool has_next = first + step < to;
        score<COLUMNS>(sum, keys, query);
        if (has_next) load_keys(keys, cache, rows);
        weigh<COLUMNS>(soft, sum, p, first, last);
        gather<COLUMNS>(soft, values, p);
        if (has_next) {
            load_values(values, cache, rows);
            rows = rows_of(cache, first + 2 * step < to ? first + 2 * step : first);
        }
    }
}

__device__ __forceinline__ float query_at(const unsigned short* q, unsigned place) {
    return __uint_as_float((unsigned)q[place] << 16) - 0.5f;
}

// Queries `first` on of the item, 8 a column.
template <int COLUMNS>
__device__ __forceinline__ void load_queries(unsigned query[8][COLUMNS][2], unsigned last[COLUMNS][2],
                                             const unsigned short* q, const Item& item, unsigned head, unsigned first) {
    unsigned lane = threadIdx.x % 32, end = item.first + item.n - 1;
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
        unsigned at = min(first + n * 8 + lane / 4, end);
        const unsigned short* from = q + ((item.row + at / GROUP) * N_KV * GROUP + head * GROUP + at % GROUP) * HEAD;
#pragma unroll
        for (int s = 0; s < 8; ++s) {
            unsigned place = 8 * (4 * (s / 2) + lane % 4) + 4 * (s % 2);
            query[s][n][0] = packed(query_at(from, place), query_at(from, place + 1));
            query[s][n][1] = packed(query_at(from, place + 2), query_at(from, place + 3));
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) last[n][i] = item.begin + min(first + n * 8 + lane % 4 * 2 + i, end) / GROUP;
    }
}

// Adds what the lanes of a warp have of each query's total.
template <int COLUMNS>
__device__ __forceinline__ void add_totals(Soft<COLUMNS>& soft) {
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
#pragma unroll
            for (int step = 4; step < 32; step *= 2) {
                soft.total[n][q] += __shfl_xor_sync(0xFFFFFFFFu, soft.total[n][q], step);
            }
        }
    }
}

// Partial results of the block: sums, maxima and totals of up to 64 queries.
struct Shared {
    float sum[64][HEAD];
    float2 whole[64];
    float2 of_warp[WARPS][8];
    bool is_last;
};

// Four warps had the same 8 queries and different tokens.
__device__ __forceinline__ void bring(Shared& shared, Soft<1>& soft) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = lane % 4;
    add_totals<1>(soft);
    for (unsigned at = threadIdx.x; at < 8 * HEAD; at += WARPS * 32) shared.sum[at / HEAD][at % HEAD] = 0.0f;
    if (lane < 4) {
        for (int q = 0; q < 2; ++q) shared.of_warp[warp][2 * c + q] = make_float2(soft.most[0][q], soft.total[0][q]);
    }
    __syncthreads();
    float shrink[2];
#pragma unroll
    for (int q = 0; q < 2; ++q) {
        float most = NOTHING, total = 0.0f;
        for (int other = 0; other < WARPS; ++other) most = fmaxf(most, shared.of_warp[other][2 * c + q].x);
        for (int other = 0; other < WARPS; ++other) {
            total += shared.of_warp[other][2 * c + q].y * power_of_2(shared.of_warp[other][2 * c + q].x - most);
        }
        shrink[q] = power_of_2(soft.most[0][q] - most);
        if (threadIdx.x < 4) shared.whole[2 * c + q] = make_float2(most, total);
    }
    for (unsigned turn = 0; turn < WARPS; ++turn) {
        if (warp == turn) {
#pragma unroll
            for (int t = 0; t < 8; ++t) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    shared.sum[2 * c + i % 2][64 * (i / 2) + 8 * (lane / 4) + t] += soft.sum[t][0][i] * shrink[i % 2];
                }
            }
        }
        __syncthreads();
    }
}

// Each warp had 16 queries of its own.
__device__ __forceinline__ void bring(Shared& shared, Soft<2>& soft) {
    unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16, c = lane % 4;
    add_totals<2>(soft);
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            unsigned at = first + n * 8 + 2 * c + i % 2;
            if (lane < 4 && i < 2) shared.whole[at] = make_float2(soft.most[n][i], soft.total[n][i]);
#pragma unroll
            for (int t = 0; t < 8; ++t) shared.sum[at][64 * (i / 2) + 8 * (lane / 4) + t] = soft.sum[t][n][i];
        }
    }
    __syncthreads();
}

// Writes the block's part, or the result where there is only one; whoever comes last adds the parts up.
__device__ __forceinline__ void put(Shared& shared, const Item& item, unsigned head, float* partial, float2* whole,
                                    unsigned* n_arrived, float* out) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned long long place = ((unsigned long long)item.place * N_KV + head * item.n_splits) * 64;
    for (unsigned at = 0; at < item.n && item.n_splits > 1; ++at) {
        unsigned long long to = place + item.split * 64 + at;
        partial[to * HEAD + threadIdx.x] = shared.sum[at][threadIdx.x];
        if (threadIdx.x == 0) whole[to] = shared.whole[at];
    }
    if (item.n_splits > 1) {
        __threadfence();
        __syncthreads();
        unsigned* arrived = n_arrived + item.place * N_KV + head;
        if (threadIdx.x == 0) {
            shared.is_last = atomicAdd(arrived, 1) == item.n_splits - 1;
            // Ready for the next launch.
            if (shared.is_last) *arrived = 0;
        }
        __syncthreads();
        if (!shared.is_last) return;
        __threadfence();
    }
    for (unsigned at = warp; at < item.n; at += WARPS) {
        float most = NOTHING, total = 0.0f;
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (unsigned split = 0; split < item.n_splits && item.n_splits > 1; ++split) {
            most = fmaxf(most, __ldcg(&whole[place + split * 64 + at]).x);
        }
#pragma unroll 4
        for (unsigned split = 0; split < item.n_splits; ++split) {
            bool is_alone = item.n_splits == 1;
            float2 part = is_alone ? shared.whole[at] : __ldcg(&whole[place + split * 64 + at]);
            const float4* from = is_alone ? (const float4*)shared.sum[at] : (const float4*)(partial + (place + split * 64 + at) * HEAD);
            float4 more = from[lane];
            float shrink = is_alone ? 1.0f : power_of_2(part.x - most);
            total += part.y * shrink;
            sum.x += more.x * shrink, sum.y += more.y * shrink, sum.z += more.z * shrink, sum.w += more.w * shrink;
        }
        unsigned query = item.first + at;
        float4* to = (float4*)(out + ((item.row + query / GROUP) * N_KV * GROUP + head * GROUP + query % GROUP) * HEAD);
        float share = 1.0f / total;
        to[lane] = make_float4(sum.x * share, sum.y * share, sum.z * share, sum.w * share);
    }
}

// A block's item. With one column its warps take turns at the tokens, with two each has queries of its own.
template <int COLUMNS>
__device__ __forceinline__ void block(const unsigned short* q, Cache cache, const Item& item, float* partial, float2* whole,
                                      unsigned* n_arrived, float* out) {
    __shared__ Shared shared;
    unsigned warp = threadIdx.x / 32, query[8][COLUMNS][2], last[COLUMNS][2];
    cache.table += item.table;
    load_queries<COLUMNS>(query, last, q, item, cache.head, item.first + (COLUMNS == 1 ? 0 : warp * 16));
    Soft<COLUMNS> soft = {};
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) soft.most[n][0] = soft.most[n][1] = NOTHING;
    attend<COLUMNS>(soft, cache, query, last, item.from + (COLUMNS == 1 ? warp * 16 : 0), COLUMNS == 1 ? 64 : 16, item.to);
    bring(shared, soft);
    put(shared, item, cache.head, partial, whole, n_arrived, out);
}
#else
template <int COLUMNS>
__device__ void block(const unsigned short*, Cache, const Item&, float*, float2*, unsigned*, float*) {}
#endif

#define ATTENTION(NAME, COLUMNS, BLOCKS)                                                                                    \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS)                                                               \
        NAME(const unsigned short* __restrict__ q, const unsigned short* __restrict__ k,                                    \
             const unsigned short* __restrict__ v, const unsigned* __restrict__ table, const Item* __restrict__ items,      \
             float* partial, float2* whole, unsigned* n_arrived, float* out) {                                              \
        block<COLUMNS>(q, {k, v, table, blockIdx.x % 8}, items[blockIdx.x / 8], partial, whole, n_arrived, out);            \
    }
ATTENTION(decodes, 1, 3)
ATTENTION(chunks, 2, 2)

// Number `at` of a buffer: 8 random bits as bf16 in [0, 1), two a word.
extern "C" __global__ void fill(unsigned* out, unsigned long long n_words, unsigned key) {
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_words;
         i += (unsigned long long)gridDim.x * blockDim.x) {
        unsigned x = ((unsigned)i ^ key) * 0x9E3779B1u;
        x ^= x >> 15;
        x *= 0x85EBCA6Bu;
        x ^= x >> 13;
        unsigned low = __float_as_uint((x & 255) * (1.0f / 256.0f)) >> 16;
        unsigned high = __float_as_uint((x >> 16 & 255) * (1.0f / 256.0f)) & 0xFFFF0000u;
        out[i] = low | high;
    }
}

extern "C" __global__ void nothing() {}
