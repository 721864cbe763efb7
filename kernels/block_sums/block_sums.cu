// The sum of every 256 words, by a block of 256 threads that takes one run of 256 after the other. METHOD 0: a tree in shared
// memory, a barrier a round; 1: shuffles within each warp, then the eight sums of the warps; 2: one instruction that adds up a
// warp, where there is one (compute capability 8.0), then the eight sums.

__device__ unsigned warp_sum(unsigned value) {
#if METHOD == 2 && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xFFFFFFFFu, value);
#else
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_down_sync(0xFFFFFFFFu, value, step);
    }
    return value;
#endif
}

extern "C" __global__ void block_sums(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n_runs) {
    __shared__ unsigned part[256];
    unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    for (unsigned run = blockIdx.x; run < n_runs; run += gridDim.x) {
        unsigned value = input[(unsigned long long)run * 256 + thread];
#if METHOD == 0
        part[thread] = value;
        __syncthreads();
#pragma unroll
        for (int half = 128; half > 0; half /= 2) {
            if (thread < half) {
                part[thread] += part[thread + half];
            }
            __syncthreads();
        }
        if (thread == 0) {
            out[run] = part[0];
        }
        __syncthreads();
#else
        value = warp_sum(value);
        if (lane == 0) {
            part[warp] = value;
        }
        __syncthreads();
        if (warp == 0) {
            unsigned sum = lane < 8 ? part[lane] : 0;
            sum = warp_sum(sum);
            if (lane == 0) {
                out[run] = sum;
            }
        }
        __syncthreads();
#endif
    }
}
