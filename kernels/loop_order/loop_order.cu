// Reads an array PASSES times in one launch, a block a tile of 16 KiB: the same tiles, in another order of the two loops.
// ORDER 0: all tiles, then all again; 1: every second pass backwards; 2: a piece of PIECE tiles PASSES times, then the next piece.
// Blocks start in the order of their numbers. L1 is passed by.

__device__ unsigned tile_of(unsigned block, unsigned n_tiles) {
#if ORDER == 0
    return block % n_tiles;
#elif ORDER == 1
    unsigned tile = block % n_tiles;
    return block / n_tiles % 2 ? n_tiles - 1 - tile : tile;
#else
    return block / (PIECE * PASSES) * PIECE + block % PIECE;
#endif
}

extern "C" __global__ void loop_order(const uint4* __restrict__ input, unsigned* __restrict__ sums, unsigned n_tiles) {
    const uint4* place = input + (unsigned long long)tile_of(blockIdx.x, n_tiles) * 1024 + threadIdx.x;
    uint4 value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        value[k] = __ldcg(place + k * 256);
    }
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        sum += value[k].x + value[k].y + value[k].z + value[k].w;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        sums[blockIdx.x * 8 + threadIdx.x / 32] = sum;
    }
}
