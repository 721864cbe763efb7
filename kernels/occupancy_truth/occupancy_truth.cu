// One source with a cap of registers an entry. A thread keeps KEEP values at once for TURNS turns: what does not fit into its registers
// is spilled to local memory. Every value changes in every turn by all that came before, so that none can be computed anew instead.

#define KEEP 248
#define TURNS 16

__device__ __forceinline__ void turns(unsigned* __restrict__ out) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    unsigned value[KEEP];
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
        value[k] = (thread * KEEP + k) * 0x9E3779B1u;
    }
#pragma unroll 1
    for (int turn = 0; turn < TURNS; ++turn) {
#pragma unroll
        for (int k = 0; k < KEEP; ++k) {
            value[k] ^= sum;
            sum += value[k];
        }
    }
    out[thread] = sum;
}

#define CAPPED(n) \
    extern "C" __global__ void __maxnreg__(n) cap_##n(unsigned* __restrict__ out) { turns(out); }

CAPPED(24)
CAPPED(32)
CAPPED(40)
CAPPED(64)
CAPPED(72)
CAPPED(96)
CAPPED(128)
CAPPED(168)
CAPPED(255)
