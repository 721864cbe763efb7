extern "C" __global__ void field_sum(const unsigned* input, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (unsigned field = 0; field < 4; ++field) {
        sum += input[i * 4 + field];
    }
    out[i] = sum;
}
