// Convolutions of 3 x 3 with padding and a ReLU, one output a thread: plain, because memory is what is looked at.

__device__ __forceinline__ float begun(unsigned at) { return ((at * 2654435761u) >> 8) * (1.0f / 16777216.0f); }

extern "C" __global__ void images(float* out, unsigned long long n) {
    unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] = begun((unsigned)at);
}

// Not yet divided by the channels: the convolution does that.
extern "C" __global__ void weights(float* out, unsigned long long n) {
    unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] = begun((unsigned)at) - 0.5f;
}

extern "C" __global__ void convolve(const float* in, const float* weights, float* out, unsigned from, unsigned to,
                                    unsigned side, unsigned stride, unsigned long long n) {
    unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    unsigned out_side = side / stride;
    unsigned col = at % out_side, row = at / out_side % out_side;
    unsigned channel = at / (out_side * out_side) % to;
    unsigned long long image = at / ((unsigned long long)out_side * out_side * to);
    const float* plane = in + image * from * side * side;
    const float* kernel = weights + (unsigned long long)channel * from * 9;
    float sum = 0.0f;
    for (unsigned c = 0; c < from; ++c) {
#pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
            int y = (int)(row * stride) + tap / 3 - 1, x = (int)(col * stride) + tap % 3 - 1;
            if (y >= 0 && y < (int)side && x >= 0 && x < (int)side) {
                sum = fmaf(plane[(unsigned long long)c * side * side + y * side + x], kernel[c * 9 + tap], sum);
            }
        }
    }
    out[at] = fmaxf(sum / from, 0.0f);
}
