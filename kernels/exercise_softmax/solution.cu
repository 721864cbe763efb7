__device__ float warp_max(float value) {
    for (unsigned step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}
__device__ float warp_sum(float value) {
    for (unsigned step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

// A row stays in the registers of its warp.
extern "C" __global__ void softmax(const float* input, float* out, unsigned rows) {
    unsigned lane = threadIdx.x % 32;
    unsigned first = (blockIdx.x * 4 + threadIdx.x / 32) * 512 + lane;
    float v[16];
    float most = -INFINITY;
    for (unsigned k = 0; k < 16; ++k) {
        v[k] = input[first + k * 32];
        most = fmaxf(most, v[k]);
    }
    most = warp_max(most);
    float sum = 0.0f;
    for (unsigned k = 0; k < 16; ++k) {
        v[k] = expf(v[k] - most);
        sum += v[k];
    }
    sum = warp_sum(sum);
    for (unsigned k = 0; k < 16; ++k) out[first + k * 32] = v[k] / sum;
}
