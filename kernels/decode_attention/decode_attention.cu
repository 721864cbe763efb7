// Attention of one new token a sequence over its cache: out[q] = Σ_t softmax_t(SCALE · (q − ½) · k_t) · v_t, sm_80 and later.
// GROUP query heads share a KV head and the reads of it. A block takes one KV head of one sequence and SPLIT tokens of it;
// its warps take turns at tiles of TILE tokens, each with its own running maximum and sum. The blocks of a sequence leave
// partial results, and whoever comes last adds them up.
//
// No shared memory on the way: keys are the left operand of mma as they lie in memory (a row is a token), values become
// its left operand when two tokens' rows are interleaved in registers. Which of the 128 places of a head goes to which
// row of an operand is free, as long as both sides agree; it is chosen so that every load is 16 bytes wide.
// FORMAT 0 bf16, 1 E4M3 with one scale, 2 int8 with a scale for each token and head.

#if __CUDA_ARCH__ >= 800
#define HEAD 128
#define WARPS 4
#define SUBTILES (FORMAT == 0 ? 1 : 2)
#define TILE (16 * SUBTILES)
#define ROW_BYTES (FORMAT == 0 ? 2 * HEAD : HEAD)
// 16-byte pieces that a lane loads of a subtile, keys and values each.
#define PIECES (FORMAT == 0 ? 8 : 4)
// Columns of 8 queries of a warp, and warps that share their tokens.
#define COLUMNS (GROUP > 8 ? 2 : 1)
#define QUERIES (8 * COLUMNS)
#define PARTS ((GROUP + QUERIES - 1) / QUERIES)
#define TURNS (WARPS / PARTS)
#define NOTHING (-1e30f)
// Of the scores, in powers of 2.
#define SCALE ((float)(SCALE_LOG2))

__device__ __forceinline__ void multiply(float* sum, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
#if FORMAT == 0
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
#endif
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

// Two numbers in the 16-bit format of the products, the first in the lower half.
__device__ __forceinline__ unsigned packed(float low, float high) {
    unsigned out;
#if FORMAT == 0
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
#else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
#endif
    return out;
}

// Two bytes of the cache, the lower and the next of a word's half, as two 16-bit floats.
__device__ __forceinline__ unsigned widened(unsigned word, unsigned half) {
#if FORMAT == 2
    // 0x64XX is 1024 + XX in fp16, and XX is the number plus 128.
    unsigned biased = __byte_perm(word ^ 0x80808080u, 0x64646464u, half ? 0x4342u : 0x4140u), out;
    asm("sub.f16x2 %0, %1, %2;" : "=r"(out) : "r"(biased), "r"(0x64806480u));
    return out;
#elif __CUDA_ARCH__ >= 890
    unsigned out;
    unsigned short two = half ? word >> 16 : word;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(out) : "h"(two));
    return out;
#else
    // The fields of E4M3 at their places in fp16 stand for a number 256 times smaller.
    unsigned spread = __byte_perm(word, 0, half ? 0x3424u : 0x1404u), out;
    spread = (spread & 0x80008000u) | (spread & 0x7F007F00u) >> 1;
    asm("mul.f16x2 %0, %1, %2;" : "=r"(out) : "r"(spread), "r"(0x5C005C00u));
    return out;
#endif
}

struct Cache {
    const unsigned char* k;
    const unsigned char* v;
    const float* k_scale;
    const float* v_scale;
    const unsigned* table;
    unsigned n_seqs, length, keep;
};

// Where the rows of a sequence's head lie. A lane looks up the token that has its number.
struct Rows {
    const Cache& cache;
    unsigned seq, head, lane;

    // The block of the table that holds token `first + lane`, asked for well before it is needed.
    __device__ __forceinline__ unsigned ask(unsigned first) const {
#if PAGED
        unsigned at = (seq * cache.length + first + lane % TILE) / BLOCK_TOKENS;
        unsigned block = __ldg(cache.table + at);
        return (block & cache.keep) | (at & ~cache.keep);
#else
        return first;
#endif
    }

    __device__ __forceinline__ unsigned row(unsigned asked, unsigned first, unsigned token) const {
#if PAGED
#if BLOCK_TOKENS >= TILE
        unsigned block = asked;
#else
        unsigned block = __shfl_sync(0xFFFFFFFFu, asked, token);
#endif
        return (block * N_KV + head) * BLOCK_TOKENS + (first + token) % BLOCK_TOKENS;
#else
        return (seq * N_KV + head) * cache.length + first + token;
#endif
    }
};

// Loads one subtile of keys: a lane has the rows of tokens r and r + 8.
__device__ __forceinline__ void load_keys(uint4* to, float* scale, const Cache& cache, const Rows& rows, unsigned asked,
                                          unsigned first, unsigned sub) {
    unsigned r = rows.lane / 4, c = rows.lane % 4;
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
        unsigned row = rows.row(asked, first, sub * 16 + upper * 8 + r);
        const uint4* from = (const uint4*)(cache.k + (unsigned long long)row * ROW_BYTES) + c;
#pragma unroll
        for (int h = 0; h < PIECES / 2; ++h) to[upper * (PIECES / 2) + h] = __ldg(from + 4 * h);
#if FORMAT == 2
        scale[upper] = __ldg(cache.k_scale + row);
#endif
    }
}

// The same for values: a lane has its pieces of tokens 2c, 2c + 1, 2c + 8, 2c + 9; the scales go with tokens r and r + 8.
__device__ __forceinline__ void load_values(uint4* to, float* scale, const Cache& cache, const Rows& rows, unsigned asked,
                                            unsigned first, unsigned sub) {
    unsigned r = rows.lane / 4, c = rows.lane % 4;
#pragma unroll
    for (int t = 0; t < 4; ++t) {
        unsigned row = rows.row(asked, first, sub * 16 + 2 * c + t / 2 * 8 + t % 2);
        const uint4* from = (const uint4*)(cache.v + (unsigned long long)row * ROW_BYTES) + r;
#pragma unroll
        for (int h = 0; h < PIECES / 4; ++h) to[t * (PIECES / 4) + h] = __ldg(from + 8 * h);
    }
#if FORMAT == 2
    scale[0] = __ldg(cache.v_scale + rows.row(asked, first, sub * 16 + r));
    scale[1] = __ldg(cache.v_scale + rows.row(asked, first, sub * 16 + 8 + r));
#endif
}

__device__ __forceinline__ unsigned part_of(const uint4& piece, int word) {
    return word == 0 ? piece.x : word == 1 ? piece.y : word == 2 ? piece.z : piece.w;
}

// Scores of 16 tokens: sum[column][0, 1] are token r with queries 2c, 2c + 1; [2, 3] are token r + 8.
__device__ __forceinline__ void score(float sum[COLUMNS][4], const uint4* keys, const unsigned query[8][COLUMNS][2]) {
#pragma unroll
    for (int s = 0; s < 8; ++s) {
#if FORMAT == 0
        unsigned a0 = part_of(keys[s / 2], s % 2 * 2), a2 = part_of(keys[s / 2], s % 2 * 2 + 1);
        unsigned a1 = part_of(keys[4 + s / 2], s % 2 * 2), a3 = part_of(keys[4 + s / 2], s % 2 * 2 + 1);
#else
        unsigned low = part_of(keys[s / 4], s % 4), high = part_of(keys[2 + s / 4], s % 4);
        unsigned a0 = widened(low, 0), a2 = widened(low, 1), a1 = widened(high, 0), a3 = widened(high, 1);
#endif
#pragma unroll
        for (int n = 0; n < COLUMNS; ++n) multiply(sum[n], a0, a1, a2, a3, query[s][n][0], query[s][n][1]);
    }
}

// Adds p · v of 16 tokens: sum[t][column] has place of(t), and of(t) + 64 or + 8, of queries 2c and 2c + 1.
__device__ __forceinline__ void gather(float sum[8][COLUMNS][4], const uint4* values, const unsigned p[COLUMNS][2]) {
#pragma unroll
    for (int t = 0; t < 8; ++t) {
        unsigned a[4];
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
#if FORMAT == 0
            const unsigned pick = t % 2 ? 0x7632u : 0x5410u;
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                unsigned one = part_of(values[(2 * pair) * 2 + h], t / 2);
                unsigned other = part_of(values[(2 * pair + 1) * 2 + h], t / 2);
                a[pair * 2 + h] = __byte_perm(one, other, pick);
            }
#else
            // Bytes t and t + 8 of the piece.
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                unsigned one = part_of(values[2 * pair], h * 2 + t / 4), other = part_of(values[2 * pair + 1], h * 2 + t / 4);
                unsigned both = __byte_perm(one, other, t % 4 / 2 ? 0x7362u : 0x5140u);
                a[pair * 2 + h] = widened(both, t % 2);
            }
#endif
        }
#pragma unroll
        for (int n = 0; n < COLUMNS; ++n) multiply(sum[t][n], a[0], a[1], a[2], a[3], p[n][0], p[n][1]);
    }
}

// What a warp knows of its queries, 2c and 2c + 1 of each column.
struct Soft {
    float most[COLUMNS][2];
    float total[COLUMNS][2];
    float sum[8][COLUMNS][4];
};

// Turns scores into weights, scales what was added so far, and adds up the weights.
__device__ __forceinline__ void weigh(Soft& soft, float score[SUBTILES][COLUMNS][4], float v_scale[SUBTILES][2],
                                      unsigned p[SUBTILES][COLUMNS][2]) {
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            float most = soft.most[n][q];
#pragma unroll
            for (int sub = 0; sub < SUBTILES; ++sub) most = fmaxf(most, fmaxf(score[sub][n][q], score[sub][n][2 + q]));
#pragma unroll
            for (int step = 4; step < 32; step *= 2) most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, step));
            float shrink = power_of_2(soft.most[n][q] - most);
            soft.most[n][q] = most;
            soft.total[n][q] *= shrink;
#pragma unroll
            for (int t = 0; t < 8; ++t) soft.sum[t][n][q] *= shrink, soft.sum[t][n][2 + q] *= shrink;
#pragma unroll
            for (int sub = 0; sub < SUBTILES; ++sub) {
#pragma unroll
                for (int upper = 0; upper < 2; ++upper) {
                    float weight = power_of_2(score[sub][n][2 * upper + q] - most);
                    soft.total[n][q] += weight;
#if FORMAT == 2
                    weight *= v_scale[sub][upper];
#endif
                    score[sub][n][2 * upper + q] = weight;
                }
            }
        }
#pragma unroll
        for (int sub = 0; sub < SUBTILES; ++sub) {
            p[sub][n][0] = turned(packed(score[sub][n][0], score[sub][n][1]));
            p[sub][n][1] = turned(packed(score[sub][n][2], score[sub][n][3]));
        }
    }
}

// Places of a head that a lane's queries hold in step s of the scores.
__device__ __forceinline__ unsigned place_of(int s, unsigned c) {
    return FORMAT == 0 ? 8 * (4 * (s / 2) + c) + 4 * (s % 2) : 16 * (4 * (s / 4) + c) + 4 * (s % 4);
}

__device__ __forceinline__ float query_at(const unsigned short* q, unsigned place) {
    return __uint_as_float((unsigned)q[place] << 16) - 0.5f;
}

__device__ __forceinline__ void load_queries(unsigned query[8][COLUMNS][2], const unsigned short* q, unsigned first,
                                             unsigned lane) {
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
        unsigned at = first + n * 8 + lane / 4;
        const unsigned short* from = q + (unsigned long long)min(at, GROUP - 1u) * HEAD;
#pragma unroll
        for (int s = 0; s < 8; ++s) {
            unsigned place = place_of(s, lane % 4);
            query[s][n][0] = packed(query_at(from, place), query_at(from, place + 1));
            query[s][n][1] = packed(query_at(from, place + 2), query_at(from, place + 3));
        }
    }
}

__device__ __forceinline__ void attend(Soft& soft, const Cache& cache, const Rows& rows,
                                       const unsigned query[8][COLUMNS][2], unsigned first, unsigned last) {
    uint4 keys[SUBTILES][PIECES], values[SUBTILES][PIECES];
    float k_scale[SUBTILES][2], v_scale[SUBTILES][2];
    if (first >= last) return;
    unsigned asked = rows.ask(first);
#pragma unroll
    for (int sub = 0; sub < SUBTILES; ++sub) load_keys(keys[sub], k_scale[sub], cache, rows, asked, first, sub);
#pragma unroll
    for (int sub = 0; sub < SUBTILES; ++sub) load_values(values[sub], v_scale[sub], cache, rows, asked, first, sub);
    unsigned next = first + TURNS * TILE;
    asked = rows.ask(next < last ? next : first);
#pragma unroll 1
    for (; first < last; first = next) {
        next = first + TURNS * TILE;
        float sum[SUBTILES][COLUMNS][4] = {};
#pragma unroll
        for (int sub = 0; sub < SUBTILES; ++sub) {
            score(sum[sub], keys[sub], query);
#pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
                for (int i = 0; i < 4; ++i) sum[sub][n][i] *= FORMAT == 2 ? SCALE * k_scale[sub][i / 2] : SCALE;
            }
        }
        // The next keys are on their way while these are weighed, the next values while the next keys are multiplied.
        if (next < last) {
#pragma unroll
            for (int sub = 0; sub < SUBTILES; ++sub) load_keys(keys[sub], k_scale[sub], cache, rows, asked, next, sub);
        }
        unsigned p[SUBTILES][COLUMNS][2];
        weigh(soft, sum, v_scale, p);
#pragma unroll
        for (int sub = 0; sub < SUBTILES; ++sub) gather(soft.sum, values[sub], p[sub]);
        if (next < last) {
#pragma unroll
            for (int sub = 0; sub < SUBTILES; ++sub) load_values(values[sub], v_scale[sub], cache, rows, asked, next, sub);
            asked = rows.ask(next + TURNS * TILE < last ? next + TURNS * TILE : next);
        }
    }
}

// Place of sum[t][n][i] in a head.
__device__ __forceinline__ unsigned place_in_head(unsigned lane, int t, int i) {
    return FORMAT == 0 ? 64 * (i / 2) + 8 * (lane / 4) + t : 16 * (lane / 4) + 8 * (i / 2) + t;
}

// Adds the warps of a block up: `shared` holds sums, then maxima, then totals of each query.
__device__ __forceinline__ void add_up(float* shared, Soft& soft, unsigned warp, unsigned lane) {
    float* most_of = shared + PARTS * QUERIES * HEAD;
    float* total_of = most_of + WARPS * QUERIES;
    unsigned part = warp % PARTS, c = lane % 4;
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
#pragma unroll
            for (int step = 4; step < 32; step *= 2) {
                soft.total[n][q] += __shfl_xor_sync(0xFFFFFFFFu, soft.total[n][q], step);
            }
            if (lane < 4) {
                most_of[warp * QUERIES + n * 8 + 2 * c + q] = soft.most[n][q];
                total_of[warp * QUERIES + n * 8 + 2 * c + q] = soft.total[n][q];
            }
        }
    }
    for (unsigned at = threadIdx.x; at < PARTS * QUERIES * HEAD; at += WARPS * 32) shared[at] = 0.0f;
    __syncthreads();
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            float most = NOTHING;
            for (int turn = 0; turn < TURNS; ++turn) {
                most = fmaxf(most, most_of[(turn * PARTS + part) * QUERIES + n * 8 + 2 * c + q]);
            }
            float shrink = power_of_2(soft.most[n][q] - most);
#pragma unroll
            for (int t = 0; t < 8; ++t) soft.sum[t][n][q] *= shrink, soft.sum[t][n][2 + q] *= shrink;
        }
    }
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        if (warp / PARTS == turn) {
#pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
                for (int t = 0; t < 8; ++t) {
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        unsigned query = part * QUERIES + n * 8 + 2 * c + i % 2;
                        shared[query * HEAD + place_in_head(lane, t, i)] += soft.sum[t][n][i];
                    }
                }
            }
        }
        __syncthreads();
    }
}

// Maximum and total of query `at` over the warps that had it.
__device__ __forceinline__ float2 whole_of(const float* shared, unsigned at) {
    const float* most_of = shared + PARTS * QUERIES * HEAD;
    const float* total_of = most_of + WARPS * QUERIES;
    unsigned part = at / QUERIES, query = at % QUERIES;
    float most = NOTHING, total = 0.0f;
    for (int turn = 0; turn < TURNS; ++turn) most = fmaxf(most, most_of[(turn * PARTS + part) * QUERIES + query]);
    for (int turn = 0; turn < TURNS; ++turn) {
        unsigned from = (turn * PARTS + part) * QUERIES + query;
        total += total_of[from] * power_of_2(most_of[from] - most);
    }
    return make_float2(most, total);
}

// The last block of a sequence's head adds the partial results of all of them: a warp a query, a lane four places.
__device__ __forceinline__ void finish(float* out, const float* partial, const float2* whole, unsigned n_splits) {
    unsigned lane = threadIdx.x % 32;
    for (unsigned query = threadIdx.x / 32; query < GROUP; query += WARPS) {
        float most = NOTHING, total = 0.0f;
        for (unsigned split = lane; split < n_splits; split += 32) most = fmaxf(most, __ldcg(&whole[split * GROUP + query]).x);
#pragma unroll
        for (int step = 1; step < 32; step *= 2) most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, step));
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (unsigned first = 0; first < n_splits; first += 32) {
            bool is_there = first + lane < n_splits;
            float2 part = __ldcg(&whole[(is_there ? first + lane : 0) * GROUP + query]);
            float shrink = is_there ? power_of_2(part.x - most) : 0.0f;
            total += part.y * shrink;
            unsigned n = min(n_splits - first, 32u);
#pragma unroll 8
            for (unsigned split = 0; split < n; ++split) {
                float4 more = __ldcg((const float4*)partial + ((first + split) * GROUP + query) * (HEAD / 4) + lane);
                float share = __shfl_sync(0xFFFFFFFFu, shrink, split);
                sum.x += more.x * share, sum.y += more.y * share, sum.z += more.z * share, sum.w += more.w * share;
            }
        }
#pragma unroll
        for (int step = 1; step < 32; step *= 2) total += __shfl_xor_sync(0xFFFFFFFFu, total, step);
        float share = 1.0f / total;
        ((float4*)out)[query * (HEAD / 4) + lane] = make_float4(sum.x * share, sum.y * share, sum.z * share, sum.w * share);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(128, GROUP > 8 ? 2 : 3)
    decode_attention(const unsigned short* __restrict__ q, const unsigned char* __restrict__ kv16,
                     const unsigned char* __restrict__ kv8,
                     const float* __restrict__ scales, const unsigned* __restrict__ table, float* partial, float2* whole,
                     unsigned* n_arrived, float* __restrict__ out, unsigned n_seqs, unsigned length, unsigned n_splits,
                     unsigned keep) {
#if __CUDA_ARCH__ >= 800
    __shared__ float shared[PARTS * QUERIES * HEAD + 2 * WARPS * QUERIES];
    __shared__ bool is_last;
    unsigned split = blockIdx.x % n_splits, head = blockIdx.x / n_splits % N_KV, seq = blockIdx.x / n_splits / N_KV;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned long long n_rows = (unsigned long long)n_seqs * length * N_KV;
    const unsigned char* kv = FORMAT == 0 ? kv16 : kv8;
    Cache cache = {kv, kv + n_rows * ROW_BYTES, scales, scales + n_rows, table, n_seqs, length, keep};
    Rows rows = {cache, seq, head, lane};
    unsigned query[8][COLUMNS][2];
    unsigned first_query = (seq * N_KV + head) * GROUP;
    load_queries(query, q + (unsigned long long)first_query * HEAD, warp % PARTS * QUERIES, lane);
    Soft soft = {};
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) soft.most[n][0] = soft.most[n][1] = NOTHING;
    unsigned from = split * (length / n_splits), to = from + length / n_splits;
    attend(soft, cache, rows, query, from + warp / PARTS * TILE, to);
    add_up(shared, soft, warp, lane);
    if (n_splits == 1) {
        for (unsigned at = 0; at < GROUP; ++at) {
            out[(first_query + at) * HEAD + threadIdx.x] = shared[at * HEAD + threadIdx.x] / whole_of(shared, at).y;
        }
        return;
    }
    unsigned place = (seq * N_KV + head) * n_splits * GROUP;
    for (unsigned at = 0; at < GROUP; ++at) {
        partial[(unsigned long long)(place + split * GROUP + at) * HEAD + threadIdx.x] = shared[at * HEAD + threadIdx.x];
        if (threadIdx.x == 0) whole[place + split * GROUP + at] = whole_of(shared, at);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(&n_arrived[seq * N_KV + head], 1) == n_splits - 1;
    __syncthreads();
    if (is_last) {
        __threadfence();
        finish(out + (unsigned long long)first_query * HEAD, partial + (unsigned long long)place * HEAD, whole + place, n_splits);
        // Ready for the next launch.
        if (threadIdx.x == 0) n_arrived[seq * N_KV + head] = 0;
    }
#endif
}
