// How many bits the exponents of a tensor need: `tensor` makes bf16 values of random words, `histogram` counts their exponents,
// `entropy` adds -p log2 p over the counts. KIND 0 normal values, 1 uniform ones from -1 to 1, 2 normal ones of which negative
// become 0, 3 normal ones rounded to int8.

// Two normal values of two words (Box and Muller), with σ = 1.
__device__ float2 normal(unsigned a, unsigned b) {
    float radius = sqrtf(-2.0f * logf(((a >> 8) + 1) * (1.0f / 16777216.0f))), sine, cosine;
    sincospif((b >> 8) * (1.0f / 8388608.0f), &sine, &cosine);
    return make_float2(radius * cosine, radius * sine);
}

__device__ float shaped(float x) {
    if (KIND == 2) return fmaxf(x, 0.0f) * 0.02f;
    if (KIND == 3) return fminf(fmaxf(rintf(32.0f * x), -127.0f), 127.0f);
    return x * 0.02f;
}

__device__ unsigned to_bf16(float x) {
    unsigned bits = __float_as_uint(x);
    return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

extern "C" __global__ void tensor(const uint2* __restrict__ input, unsigned* __restrict__ values) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    uint2 words = input[i];
    float2 pair;
    if (KIND == 1) {
        pair = make_float2((int)words.x * (1.0f / 2147483648.0f), (int)words.y * (1.0f / 2147483648.0f));
    } else {
        pair = normal(words.x, words.y);
        pair = make_float2(shaped(pair.x), shaped(pair.y));
    }
    values[i] = to_bf16(pair.x) | to_bf16(pair.y) << 16;
}

extern "C" __global__ void clear(unsigned long long* counts) { counts[threadIdx.x] = 0; }

// Each warp counts for itself, as most values have one of a few exponents. A block takes `n` times 8 values a thread.
extern "C" __global__ void histogram(const uint4* __restrict__ values, unsigned long long* __restrict__ counts, unsigned n) {
    __shared__ unsigned own[8][256];
    for (unsigned i = threadIdx.x; i < 8 * 256; i += 256) own[i / 256][i % 256] = 0;
    __syncthreads();
    unsigned* mine = own[threadIdx.x / 32];
    for (unsigned turn = 0; turn < n; ++turn) {
        uint4 eight = values[((unsigned long long)blockIdx.x * n + turn) * 256 + threadIdx.x];
        const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            atomicAdd(&mine[words[i] >> 7 & 255], 1u);
            atomicAdd(&mine[words[i] >> 23 & 255], 1u);
        }
    }
    __syncthreads();
    unsigned sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += own[warp][threadIdx.x];
    if (sum > 0) atomicAdd(&counts[threadIdx.x], (unsigned long long)sum);
}

// In units of 2^-40 bits.
extern "C" __global__ void entropy(const unsigned long long* __restrict__ counts, unsigned long long* __restrict__ bits,
                                   unsigned long long n) {
    __shared__ double parts[256];
    double p = counts[threadIdx.x] / (double)n;
    parts[threadIdx.x] = p > 0 ? -p * log2(p) : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < 256; ++i) sum += parts[i];
        bits[0] = (unsigned long long)rint(sum * 0x1p40);
    }
}
