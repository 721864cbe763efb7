// Reads the first N_READ of the 16 fields (4 bytes each) of every record and sums them. A warp takes 256 records, 32 at a time.
// LAYOUT 0: array of structs, read 16 bytes at a time where that many are wanted; 1: struct of arrays; 2: blocks of 32 records,
// a field after the other. SCATTERED 1 takes the records in an order that jumps through the array and still takes each once.

#define FIELDS 16
#define TOGETHER (N_READ > 4 ? 2 : 8)

#if N_READ == 1
#define Vec unsigned
#define TOTAL(v) (v)
#elif N_READ == 2
#define Vec uint2
#define TOTAL(v) ((v).x + (v).y)
#else
#define Vec uint4
#define TOTAL(v) ((v).x + (v).y + (v).z + (v).w)
#endif
#define WORDS (N_READ < 4 ? N_READ : 4)

__device__ unsigned of_record(const unsigned* __restrict__ input, unsigned record, unsigned n_records) {
    unsigned sum = 0;
#if LAYOUT == 0
    const Vec* place = (const Vec*)(input + record * FIELDS);
#pragma unroll
    for (int i = 0; i < N_READ / WORDS; ++i) {
        Vec value = place[i];
        sum += TOTAL(value);
    }
#else
#pragma unroll
    for (unsigned field = 0; field < N_READ; ++field) {
        sum += LAYOUT == 1 ? input[field * n_records + record] : input[(record / 32 * FIELDS + field) * 32 + record % 32];
    }
#endif
    return sum;
}

extern "C" __global__ void record_fields(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n_records) {
    unsigned warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
#pragma unroll TOGETHER
    for (unsigned turn = 0; turn < 8; ++turn) {
        unsigned record = (warp * 8 + turn) * 32 + lane;
        sum += of_record(input, SCATTERED ? record * 37190065u & (n_records - 1) : record, n_records);
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (lane == 0) {
        out[warp] = sum;
    }
}
