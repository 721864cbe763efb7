extern "C" __global__ void window_sum(const unsigned* input, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    unsigned sum = 0;
    for (unsigned d = 0; d < 16; ++d) {
        sum += input[i + d];
    }
    out[i] = sum;
}
