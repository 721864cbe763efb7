extern "C" __global__ void window_sum(const unsigned* input, unsigned* out, unsigned n) {
    __shared__ unsigned tile[256 + 15];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = input[i];
    if (t < 15) {
        tile[256 + t] = input[i + 256];
    }
    __syncthreads();
    unsigned sum = 0;
    for (unsigned d = 0; d < 16; ++d) {
        sum += tile[t + d];
    }
    out[i] = sum;
}
