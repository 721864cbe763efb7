extern "C" __global__ void total(const unsigned* input, unsigned* out, unsigned n) {
    unsigned first = blockIdx.x * 1024 + threadIdx.x;
    unsigned sum = 0;
    for (unsigned k = 0; k < 4; ++k) {
        sum += input[first + k * 256];
    }
    for (unsigned step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);
    }
}
