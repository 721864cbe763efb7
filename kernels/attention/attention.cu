// Attention, forward: out = softmax(scale · Q · K transposed) V for each head, bf16 in and out, on the tensor cores (sm_80 and later).
// Q is [head][token][HEAD_DIM]; K and V are [KV head][token][HEAD_DIM]; N tokens, a multiple of 128.
//
// Two ways. In three kernels, as one would write it: scores, softmax over rows, product; the N × N matrix lies in memory and
// is written and read twice. In tiles: a block keeps TILE_ROWS queries and walks over the keys, TILE_KEYS at a time. Scores
// and probabilities never leave its registers; each row carries the largest score so far, the sum of the exponentials and the
// output so far, all three corrected when a larger score turns up.

#if __CUDA_ARCH__ >= 800
#define PIECES (HEAD_DIM / 8)
#define NO_SCORE __int_as_float(0xFF800000)

typedef unsigned short Half;
typedef unsigned long long Index;

// ---- What the tensor cores need.

__device__ __forceinline__ void copy16(unsigned to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ __forceinline__ void wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

__device__ __forceinline__ void load4(unsigned* to, unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void load4_turned(unsigned* to, unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void multiply(float* sum, const unsigned* a, const unsigned* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Two floats as bf16, the first in the lower half.
__device__ __forceinline__ unsigned pair(float first, float second) {
    unsigned out;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
    return out;
}

__device__ __forceinline__ float power2(float x) {
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

// ---- Tiles in shared memory.

// Where 16-byte piece `piece` of row `row` lies in a tile of WIDTH pieces a row. Eight rows at the same piece fall on eight
// different groups of banks, so that neither copies nor ldmatrix meet a conflict.
template <int WIDTH>
__device__ __forceinline__ unsigned swizzled(unsigned row, unsigned piece) {
    return (row * WIDTH + (piece ^ (row & 7))) * 16;
}

// Starts copying ROWS rows of WIDTH pieces; rows lie `pitch` elements apart in memory.
template <int ROWS, int WIDTH, int THREADS>
__device__ __forceinline__ void fetch(unsigned to, const Half* from, unsigned pitch) {
    unsigned row = threadIdx.x / WIDTH, piece = threadIdx.x % WIDTH;
    to += swizzled<WIDTH>(row, piece);
    from += (Index)row * pitch + piece * 8;
#pragma unroll
    for (unsigned down = 0; down < ROWS; down += THREADS / WIDTH) {
        copy16(to + down * WIDTH * 16, from + (Index)down * pitch);
    }
}

// 16 rows × 16 columns as the left factor; 16 rows that are the columns of the right factor, as two times 8; 16 rows × 16
// columns of the right factor itself, as two times 8 columns.
template <int WIDTH>
__device__ __forceinline__ void load_left(unsigned* to, unsigned tile, unsigned row, unsigned piece) {
    unsigned lane = threadIdx.x % 32;
    load4(to, tile + swizzled<WIDTH>(row + lane % 16, piece + lane / 16));
}

template <int WIDTH>
__device__ __forceinline__ void load_rows_as_columns(unsigned* to, unsigned tile, unsigned row, unsigned piece) {
    unsigned lane = threadIdx.x % 32;
    load4(to, tile + swizzled<WIDTH>(row + lane % 8 + lane / 16 * 8, piece + lane / 8 % 2));
}

template <int WIDTH>
__device__ __forceinline__ void load_right(unsigned* to, unsigned tile, unsigned row, unsigned piece) {
    unsigned lane = threadIdx.x % 32;
    load4_turned(to, tile + swizzled<WIDTH>(row + lane % 16, piece + lane / 16));
}

// Writes the sums of 16 rows × 8 · N columns, each times the factor of its half of the rows, to a tile as bf16. A lane holds
// columns 2 · (lane % 4) and the next one, of rows lane / 4 and lane / 4 + 8.
template <int N, int WIDTH>
__device__ __forceinline__ void store(unsigned char* tile, unsigned row, unsigned piece, const float sum[N][4],
                                      const float* factor) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < N; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            unsigned at = swizzled<WIDTH>(row + lane / 4 + half * 8, piece + j) + lane % 4 * 4;
            *(unsigned*)(tile + at) = pair(sum[j][half * 2] * factor[half], sum[j][half * 2 + 1] * factor[half]);
        }
    }
}

// Writes ROWS rows of a tile to memory, with THREADS threads of which this is number `thread`.
template <int ROWS, int WIDTH, int THREADS>
__device__ __forceinline__ void write_out(Half* to, unsigned pitch, const unsigned char* tile, unsigned first_row,
                                          unsigned thread) {
    unsigned row = thread / WIDTH, piece = thread % WIDTH;
#pragma unroll
    for (; row < ROWS; row += THREADS / WIDTH) {
        *(uint4*)(to + (Index)row * pitch + piece * 8) = *(const uint4*)(tile + swizzled<WIDTH>(first_row + row, piece));
    }
}

#endif

// ---- Three kernels.

#if !TILED
#if __CUDA_ARCH__ >= 800

__device__ __forceinline__ float low(unsigned two) { return __uint_as_float(two << 16); }
__device__ __forceinline__ float high(unsigned two) { return __uint_as_float(two & 0xFFFF0000u); }

// The largest, or the sum, of a value over all threads of the block.
__device__ __forceinline__ float over_block(float value, bool is_sum, float* shared) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xFFFFFFFFu, value, step);
        value = is_sum ? value + other : fmaxf(value, other);
    }
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) {
        value = is_sum ? value + shared[warp] : fmaxf(value, shared[warp]);
    }
    __syncthreads();
    return value;
}
#endif

// 1 of 3: scores[head][i][j] = scale · Σ q[i] k[j]. A block of 8 warps makes 128 × 128, a warp 32 × 64.
extern "C" __global__ void __launch_bounds__(256)
    forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* scores,
              unsigned short* out, float* lse, unsigned n, unsigned group, float scale) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned base = (unsigned)__cvta_generic_to_shared(shared), tile_k = base + 128 * PIECES * 16;
    unsigned side = n / 128, head = blockIdx.x / (side * side), i = blockIdx.x / side % side, j = blockIdx.x % side;
    unsigned warp = threadIdx.x / 32, row_i = warp / 2 * 32, row_j = warp % 2 * 64;
    fetch<128, PIECES, 256>(base, q + ((Index)head * n + i * 128) * HEAD_DIM, HEAD_DIM);
    fetch<128, PIECES, 256>(tile_k, k + ((Index)(head / group) * n + j * 128) * HEAD_DIM, HEAD_DIM);
    commit();
    wait_all();
    __syncthreads();
    float sum[2][8][4] = {};
#pragma unroll
    for (int step = 0; step < HEAD_DIM / 16; ++step) {
        unsigned left[2][4], right[4];
        load_left<PIECES>(left[0], base, row_i, step * 2);
        load_left<PIECES>(left[1], base, row_i + 16, step * 2);
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            load_rows_as_columns<PIECES>(right, tile_k, row_j + at * 16, step * 2);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                multiply(sum[half][at * 2], left[half], right);
                multiply(sum[half][at * 2 + 1], left[half], right + 2);
            }
        }
    }
    __syncthreads();
    const float factor[2] = {scale, scale};
    store<8, 16>(shared, row_i, row_j / 8, sum[0], factor);
    store<8, 16>(shared, row_i + 16, row_j / 8, sum[1], factor);
    __syncthreads();
    write_out<128, 16, 256>(scores + ((Index)head * n + i * 128) * n + j * 128, n, shared, 0, threadIdx.x);
#endif
}

// 2 of 3: each row becomes probabilities, in place. A block takes one row, which waits in shared memory.
extern "C" __global__ void softmax(unsigned short* scores, unsigned n) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) unsigned char shared[];
    __shared__ float parts[32];
    unsigned* words = (unsigned*)shared;
    uint4* row = (uint4*)(scores + (Index)blockIdx.x * n);
    unsigned last = CAUSAL ? blockIdx.x % n : n - 1;
    float most = NO_SCORE, sum = 0.0f;
    for (unsigned piece = threadIdx.x; piece < n / 8; piece += blockDim.x) {
        uint4 four = row[piece];
        ((uint4*)words)[piece] = four;
        const unsigned two[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            unsigned j = piece * 8 + at * 2;
            if (j <= last) most = fmaxf(most, low(two[at]));
            if (j + 1 <= last) most = fmaxf(most, high(two[at]));
        }
    }
    most = over_block(most, false, parts);
    for (unsigned piece = threadIdx.x; piece < n / 8; piece += blockDim.x) {
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            unsigned j = piece * 8 + at * 2, two = words[piece * 4 + at];
            sum += j <= last ? power2((low(two) - most) * 1.44269504f) : 0.0f;
            sum += j + 1 <= last ? power2((high(two) - most) * 1.44269504f) : 0.0f;
        }
    }
    float share = 1.0f / over_block(sum, true, parts);
    for (unsigned piece = threadIdx.x; piece < n / 8; piece += blockDim.x) {
        unsigned to[4];
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            unsigned j = piece * 8 + at * 2, two = words[piece * 4 + at];
            float first = j <= last ? power2((low(two) - most) * 1.44269504f) * share : 0.0f;
            to[at] = pair(first, j + 1 <= last ? power2((high(two) - most) * 1.44269504f) * share : 0.0f);
        }
        row[piece] = make_uint4(to[0], to[1], to[2], to[3]);
    }
#endif
}

// 3 of 3: out[i] = Σ probabilities[i][j] v[j]. A block of 8 warps makes 128 rows, 64 keys at a time through two buffers.
extern "C" __global__ void __launch_bounds__(256)
    product(const unsigned short* scores, const unsigned short* v, unsigned short* out, unsigned n, unsigned group) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) unsigned char shared[];
    const unsigned stage = 128 * 128 + 64 * PIECES * 16;
    unsigned base = (unsigned)__cvta_generic_to_shared(shared), row = threadIdx.x / 32 * 16;
    Index first = (Index)blockIdx.x * 128;
    scores += first * n;
    v += first / n / group * n * HEAD_DIM;
    fetch<128, 8, 256>(base, scores, n);
    fetch<64, PIECES, 256>(base + 128 * 128, v, HEAD_DIM);
    commit();
    float sum[HEAD_DIM / 8][4] = {};
#pragma unroll 1
    for (unsigned slice = 0; slice < n / 64; ++slice) {
        unsigned now = base + slice % 2 * stage, next = base + (slice + 1) % 2 * stage;
        wait_all();
        __syncthreads();
        if (slice + 1 < n / 64) {
            fetch<128, 8, 256>(next, scores + (slice + 1) * 64, n);
            fetch<64, PIECES, 256>(next + 128 * 128, v + (Index)(slice + 1) * 64 * HEAD_DIM, HEAD_DIM);
            commit();
        }
#pragma unroll
        for (int step = 0; step < 4; ++step) {
            unsigned left[4], right[4];
            load_left<8>(left, now, row, step * 2);
#pragma unroll
            for (int at = 0; at < HEAD_DIM / 16; ++at) {
                load_right<PIECES>(right, now + 128 * 128, step * 16, at * 2);
                multiply(sum[at * 2], left, right);
                multiply(sum[at * 2 + 1], left, right + 2);
            }
        }
    }
    __syncthreads();
    const float factor[2] = {1.0f, 1.0f};
    store<HEAD_DIM / 8, PIECES>(shared, row, 0, sum, factor);
    __syncthreads();
    write_out<128, PIECES, 256>(out + first * HEAD_DIM, HEAD_DIM, shared, 0, threadIdx.x);
#endif
}

#else
// ---- In tiles.

#if __CUDA_ARCH__ >= 800
// 16-row pieces of a warp's share of the queries.
#define PER_WARP (TILE_ROWS / WARPS / 16)
#define KEY_TILE_BYTES (TILE_KEYS * PIECES * 16)

// What a lane knows of the rows lane / 4 and lane / 4 + 8 of each of its warp's pieces.
struct Rows {
    float out[PER_WARP][HEAD_DIM / 8][4];
    float most[PER_WARP][2];
    float sum[PER_WARP][2];
};

// score[i][j] = Σ q k of the warp's rows and all keys of the tile.
__device__ __forceinline__ void score(float to[PER_WARP][TILE_KEYS / 8][4], unsigned tile_q, unsigned row, unsigned tile_k) {
#pragma unroll
    for (int step = 0; step < HEAD_DIM / 16; ++step) {
        unsigned left[PER_WARP][4], right[4];
#pragma unroll
        for (int i = 0; i < PER_WARP; ++i) load_left<PIECES>(left[i], tile_q, row + i * 16, step * 2);
#pragma unroll
        for (int j = 0; j < TILE_KEYS / 16; ++j) {
            load_rows_as_columns<PIECES>(right, tile_k, j * 16, step * 2);
#pragma unroll
            for (int i = 0; i < PER_WARP; ++i) {
                multiply(to[i][j * 2], left[i], right);
                multiply(to[i][j * 2 + 1], left[i], right + 2);
            }
        }
    }
}

// Takes the scores of keys after the row's own away. `ahead` is the first key less the first row.
__device__ __forceinline__ void mask(float scores[PER_WARP][TILE_KEYS / 8][4], int ahead) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) {
#pragma unroll
        for (int j = 0; j < TILE_KEYS / 8; ++j) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                int key = ahead + j * 8 + lane % 4 * 2 + part % 2, row = i * 16 + lane / 4 + part / 2 * 8;
                if (key > row) scores[i][j][part] = NO_SCORE;
            }
        }
    }
}

// Scores become exponentials of what they lack to the largest so far; where that has grown, what was summed before shrinks.
// `scale` is in powers of two.
__device__ __forceinline__ void exponentials(float scores[PER_WARP][TILE_KEYS / 8][4], Rows& rows, float scale) {
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float most = rows.most[i][half];
#pragma unroll
            for (int j = 0; j < TILE_KEYS / 8; ++j) {
                most = fmaxf(most, fmaxf(scores[i][j][half * 2], scores[i][j][half * 2 + 1]));
            }
            // Four lanes share a row.
            most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, 1));
            most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, 2));
            float shrink = power2((rows.most[i][half] - most) * scale), sum = rows.sum[i][half] * shrink;
#pragma unroll
            for (int j = 0; j < TILE_KEYS / 8; ++j) {
#pragma unroll
                for (int part = half * 2; part < half * 2 + 2; ++part) {
                    scores[i][j][part] = power2(fmaf(scores[i][j][part], scale, -most * scale));
                    sum += scores[i][j][part];
                }
            }
#pragma unroll
            for (int j = 0; j < HEAD_DIM / 8; ++j) {
                rows.out[i][j][half * 2] *= shrink;
                rows.out[i][j][half * 2 + 1] *= shrink;
            }
            rows.most[i][half] = most;
            rows.sum[i][half] = sum;
        }
    }
}

// out += exponentials · V. As a lane holds sums of one product it must hold the left factor of the next: nothing moves.
__device__ __forceinline__ void weigh(Rows& rows, const float weights[PER_WARP][TILE_KEYS / 8][4], unsigned tile_v) {
#pragma unroll
    for (int step = 0; step < TILE_KEYS / 16; ++step) {
        unsigned left[PER_WARP][4], right[4];
#pragma unroll
        for (int i = 0; i < PER_WARP; ++i) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                const float* two = weights[i][step * 2 + part / 2] + part % 2 * 2;
                left[i][part] = pair(two[0], two[1]);
            }
        }
#pragma unroll
        for (int j = 0; j < HEAD_DIM / 16; ++j) {
            load_right<PIECES>(right, tile_v, step * 16, j * 2);
#pragma unroll
            for (int i = 0; i < PER_WARP; ++i) {
                multiply(rows.out[i][j * 2], left[i], right);
                multiply(rows.out[i][j * 2 + 1], left[i], right + 2);
            }
        }
    }
}

// Divides by the sums and writes the warp's rows, through its own rows of the tile of queries, and their log-sum-exp.
__device__ __forceinline__ void finish(Rows& rows, unsigned char* tile_q, unsigned row, Half* out, float* lse, float scale) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) {
        float factor[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float sum = rows.sum[i][half];
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
            factor[half] = 1.0f / sum;
            float log2 = rows.most[i][half] * scale + __log2f(sum);
            if (lane % 4 == 0) lse[row + i * 16 + lane / 4 + half * 8] = log2 * 0.693147181f;
        }
        store<HEAD_DIM / 8, PIECES>(tile_q, row + i * 16, 0, rows.out[i], factor);
    }
    __syncwarp();
    write_out<PER_WARP * 16, PIECES, 32>(out + (Index)row * HEAD_DIM, HEAD_DIM, tile_q, row, lane);
}
#endif

// All at once. Blocks of a head run side by side, so that L2 has its keys and values; with a causal mask long ones come first.
extern "C" __global__ void __launch_bounds__(WARPS * 32, BLOCKS)
    forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* scores,
              unsigned short* out, float* lse, unsigned n, unsigned group, float scale) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned base = (unsigned)__cvta_generic_to_shared(shared), keys = base + TILE_ROWS * PIECES * 16;
    unsigned n_blocks = n / TILE_ROWS, head = blockIdx.x / n_blocks, block = blockIdx.x % n_blocks;
    unsigned first = (CAUSAL ? n_blocks - 1 - block : block) * TILE_ROWS, row = threadIdx.x / 32 * (PER_WARP * 16);
    unsigned n_tiles = (CAUSAL ? first + TILE_ROWS + TILE_KEYS - 1 : n) / TILE_KEYS;
    q += ((Index)head * n + first) * HEAD_DIM;
    k += (Index)(head / group) * n * HEAD_DIM;
    v += (Index)(head / group) * n * HEAD_DIM;
    fetch<TILE_ROWS, PIECES, WARPS * 32>(base, q, HEAD_DIM);
    fetch<TILE_KEYS, PIECES, WARPS * 32>(keys, k, HEAD_DIM);
    fetch<TILE_KEYS, PIECES, WARPS * 32>(keys + KEY_TILE_BYTES, v, HEAD_DIM);
    commit();
    Rows rows = {};
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) rows.most[i][0] = rows.most[i][1] = NO_SCORE;
    float to_power = scale * 1.44269504f;
#pragma unroll 1
    for (unsigned tile = 0; tile < n_tiles; ++tile) {
        unsigned now = keys + tile % 2 * (2 * KEY_TILE_BYTES), next = keys + (tile + 1) % 2 * (2 * KEY_TILE_BYTES);
        // One barrier a tile: this one has arrived, and nobody uses the other buffers any more.
        wait_all();
        __syncthreads();
        if (tile + 1 < n_tiles) {
            Index ahead = (Index)(tile + 1) * TILE_KEYS * HEAD_DIM;
            fetch<TILE_KEYS, PIECES, WARPS * 32>(next, k + ahead, HEAD_DIM);
            fetch<TILE_KEYS, PIECES, WARPS * 32>(next + KEY_TILE_BYTES, v + ahead, HEAD_DIM);
            commit();
        }
        // A warp whose rows all come before these keys waits for the others.
        if (CAUSAL && tile * TILE_KEYS >= first + row + PER_WARP * 16) continue;
        float weights[PER_WARP][TILE_KEYS / 8][4] = {};
        score(weights, base, row, now);
        if (CAUSAL && (tile + 1) * TILE_KEYS > first + row) mask(weights, (int)(tile * TILE_KEYS) - (int)(first + row));
        exponentials(weights, rows, to_power);
        weigh(rows, weights, now + KEY_TILE_BYTES);
    }
    finish(rows, shared, row, out + ((Index)head * n + first) * HEAD_DIM, lse + (Index)head * n + first, to_power);
#endif
}
#endif
