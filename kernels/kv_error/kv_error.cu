// What a cache of fewer bits does to the result of attention. FORMAT of a call: 0 bf16, 1 E4M3 with one scale for all keys and
// one for all values, 2 int8 with a scale for each row (a token of a head). One query a head; everything but the cache is
// in fp32.

#define HEAD 128
#define WARPS 4

__device__ __forceinline__ unsigned mixed(unsigned x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ x >> 16;
}

// Normal numbers, two uniform ones each (Box and Muller).
extern "C" __global__ void normal(float* out, unsigned n, unsigned key) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float u = ((mixed(2 * i ^ key) >> 8) + 1) * (1.0f / 16777216.0f), w = (mixed((2 * i + 1) ^ key) >> 8) * (1.0f / 16777216.0f);
    out[i] = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * w);
}

// To the nearest of E4M3, ties to even, the largest where it is beyond it.
__device__ __forceinline__ unsigned char to_e4m3(float x) {
    unsigned bits = __float_as_uint(x), sign = bits >> 24 & 0x80u, size = bits & 0x7FFFFFFFu;
    if (size > 0x43E80000u) return sign | 0x7Eu;
    if (size >= 0x3C800000u) return sign | (((size + 0x7FFFFu + (size >> 20 & 1u)) >> 20) - (120u << 3));
    return sign | (unsigned char)__float2int_rn(__uint_as_float(size) * 512.0f);
}

__device__ __forceinline__ float from_e4m3(unsigned byte) {
    unsigned exponent = byte >> 3 & 15u, fraction = byte & 7u;
    float size = exponent == 0 ? fraction * (1.0f / 512.0f) : __uint_as_float((exponent + 120u) << 23 | fraction << 20);
    return byte & 0x80u ? -size : size;
}

__device__ __forceinline__ unsigned short to_bf16(float x) {
    unsigned bits = __float_as_uint(x);
    return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

// A warp a row of 128 numbers: `scale` is E4M3's, int8's is made here.
extern "C" __global__ void store(const float* in, void* out, float* scales, unsigned n_rows, unsigned format, float scale) {
    unsigned row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n_rows) return;
    float most = 0.0f;
    for (unsigned at = lane; at < HEAD; at += 32) most = fmaxf(most, fabsf(in[row * HEAD + at]));
    for (int step = 1; step < 32; step *= 2) most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, step));
    float own = format == 2 ? most / 127.0f : scale;
    if (lane == 0) scales[row] = own;
    for (unsigned at = lane; at < HEAD; at += 32) {
        float x = in[row * HEAD + at];
        unsigned place = row * HEAD + at;
        if (format == 0) ((unsigned short*)out)[place] = to_bf16(x);
        else if (format == 1) ((unsigned char*)out)[place] = to_e4m3(x / own);
        else ((signed char*)out)[place] = (signed char)__float2int_rn(x / own);
    }
}

__device__ __forceinline__ float stored(const void* cache, const float* scales, unsigned row, unsigned at, unsigned format) {
    unsigned place = row * HEAD + at;
    if (format == 0) return __uint_as_float((unsigned)((const unsigned short*)cache)[place] << 16);
    if (format == 1) return from_e4m3(((const unsigned char*)cache)[place]) * scales[row];
    return ((const signed char*)cache)[place] * scales[row];
}

// A block a head; its warps take turns at the tokens.
extern "C" __global__ void attend(const float* q, const void* keys, const void* values, const float* k_scales,
                                  const float* v_scales, float* out, unsigned length, unsigned format) {
    __shared__ float sums[WARPS][HEAD], most_of[WARPS], total_of[WARPS];
    unsigned head = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float most = -1e30f, total = 0.0f, sum[4] = {};
    for (unsigned token = warp; token < length; token += WARPS) {
        unsigned row = head * length + token;
        float score = 0.0f;
        for (int i = 0; i < 4; ++i) {
            score += q[head * HEAD + lane + 32 * i] * stored(keys, k_scales, row, lane + 32 * i, format);
        }
        for (int step = 1; step < 32; step *= 2) score += __shfl_xor_sync(0xFFFFFFFFu, score, step);
        // 1 / √128
        score *= 0.08838834764831845f;
        float now = fmaxf(most, score), shrink = expf(most - now), weight = expf(score - now);
        total = total * shrink + weight;
        for (int i = 0; i < 4; ++i) sum[i] = sum[i] * shrink + weight * stored(values, v_scales, row, lane + 32 * i, format);
        most = now;
    }
    for (int i = 0; i < 4; ++i) sums[warp][lane + 32 * i] = sum[i];
    if (lane == 0) most_of[warp] = most, total_of[warp] = total;
    __syncthreads();
    float all = 0.0f, whole = 0.0f, top = -1e30f;
    for (int w = 0; w < WARPS; ++w) top = fmaxf(top, most_of[w]);
    for (int w = 0; w < WARPS; ++w) {
        float shrink = expf(most_of[w] - top);
        whole += total_of[w] * shrink;
        all += sums[w][threadIdx.x] * shrink;
    }
    out[head * HEAD + threadIdx.x] = all / whole;
}
