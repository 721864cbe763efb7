// Through a tile in shared memory: rows come in, rows go out.

extern "C" __global__ void transpose(const unsigned* input, unsigned* out, unsigned n) {
    __shared__ unsigned tile[32][33];
    unsigned x = threadIdx.x, y = threadIdx.y;
    for (unsigned step = 0; step < 32; step += 8) {
        unsigned row = y + step;
        tile[row][x] = input[(blockIdx.y * 32 + row) * n + blockIdx.x * 32 + x];
    }
    __syncthreads();
    for (unsigned step = 0; step < 32; step += 8) {
        unsigned row = y + step;
        out[(blockIdx.x * 32 + row) * n + blockIdx.y * 32 + x] = tile[x][row];
    }
}
