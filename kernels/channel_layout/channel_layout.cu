// The sum over the channels of every pixel of one image, which lies as NCHW (IS_NHWC 0: a plane a channel) or NHWC (1: all channels
// of a pixel side by side).

__device__ unsigned long long place(unsigned pixel, unsigned channel, unsigned n_pixels, unsigned n_channels) {
    return IS_NHWC ? (unsigned long long)pixel * n_channels + channel : (unsigned long long)channel * n_pixels + pixel;
}

// A lane a pixel: neighbouring lanes want neighbouring pixels.
extern "C" __global__ void lanes_0(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n_pixels,
                                             unsigned n_channels) {
    unsigned pixel = blockIdx.x * 256 + threadIdx.x, sum = 0;
#pragma unroll 4
    for (unsigned channel = 0; channel < n_channels; ++channel) {
        sum += input[place(pixel, channel, n_pixels, n_channels)];
    }
    out[pixel] = sum;
}

// A lane a channel: neighbouring lanes want neighbouring channels. A warp takes 32 pixels, one after the other.
extern "C" __global__ void lanes_1(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n_pixels,
                                               unsigned n_channels) {
    unsigned lane = threadIdx.x % 32, first = (blockIdx.x * 8 + threadIdx.x / 32) * 32, mine = 0;
#pragma unroll 4
    for (unsigned i = 0; i < 32; ++i) {
        unsigned sum = 0;
        for (unsigned channel = lane; channel < n_channels; channel += 32) {
            sum += input[place(first + i, channel, n_pixels, n_channels)];
        }
        for (int step = 16; step > 0; step /= 2) {
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
        }
        mine = lane == i ? sum : mine;
    }
    out[first + lane] = mine;
}
