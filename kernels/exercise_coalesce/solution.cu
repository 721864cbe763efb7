// A block copies 8 * blockDim.x elements, in each turn one a thread, side by side.
extern "C" __global__ void copy_words(const unsigned* input, unsigned* out, unsigned n) {
    unsigned first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    for (unsigned k = 0; k < 8; ++k) {
        out[first + k * blockDim.x] = input[first + k * blockDim.x];
    }
}
