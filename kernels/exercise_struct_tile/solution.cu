extern "C" __global__ void field_sum(const unsigned* input, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 all = ((const uint4*)input)[i];
    out[i] = all.x + all.y + all.z + all.w;
}
