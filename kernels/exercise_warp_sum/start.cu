// A tree in shared memory.
extern "C" __global__ void total(const unsigned* input, unsigned* out, unsigned n) {
    __shared__ unsigned part[256];
    unsigned t = threadIdx.x;
    part[t] = input[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(out, part[0]);
    }
}
