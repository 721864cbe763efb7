// Reads the first field (4 bytes) of every record, 8 records in flight a thread, and sums it.
// A warp owns 256 neighbouring records. LAYOUT 0: array of structs; LAYOUT 1: struct of arrays.

extern "C" __global__ void aos_soa(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n_fields) {
    unsigned long long warp = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned lane = threadIdx.x % 32;
    // In a struct of arrays the first field is the first array, whatever the record holds besides.
    unsigned long long step = LAYOUT == 0 ? n_fields : 1;
    const unsigned* place = input + (warp * 256 + lane) * step;
    unsigned value[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        value[k] = place[k * 32 * step];
    }
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        sum += value[k];
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (lane == 0) {
        out[warp] = sum;
    }
}
