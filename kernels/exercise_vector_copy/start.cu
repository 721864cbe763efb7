extern "C" __global__ void copy_words(const unsigned* input, unsigned* out, unsigned n) {
    unsigned first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (unsigned k = 0; k < 4; ++k) {
        out[first + k * blockDim.x] = input[first + k * blockDim.x];
    }
}
