// LayerNorm and GELU over rows of 1024 floats, a block a row, a thread a number.

constexpr int ROW = 1024;

extern "C" __global__ void ramp(float *out) {
    unsigned long long at = (unsigned long long)blockIdx.x * ROW + threadIdx.x;
    out[at] = (at % 257) / 257.0f;
}

// The sum over a block, known to every thread.
__device__ float block_sum(float value) {
    __shared__ float part[32];
    __shared__ float all;
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        float sum = part[threadIdx.x];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (threadIdx.x == 0) all = sum;
    }
    __syncthreads();
    float result = all;
    // `part` and `all` are free again only when everybody has read them.
    __syncthreads();
    return result;
}

extern "C" __global__ void layer_norm(const float *in, float *out) {
    unsigned long long at = (unsigned long long)blockIdx.x * ROW + threadIdx.x;
    float value = in[at];
    float mean = block_sum(value) / ROW;
    float centred = value - mean;
    float variance = block_sum(centred * centred) / ROW;
    out[at] = centred * rsqrtf(variance + 1e-5f);
}

extern "C" __global__ void gelu(const float *in, float *out) {
    unsigned long long at = (unsigned long long)blockIdx.x * ROW + threadIdx.x;
    float x = in[at];
    out[at] = 0.5f * x * (1.0f + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}
