// Reads a row, writes a column.
extern "C" __global__ void transpose(const unsigned* input, unsigned* out, unsigned n) {
    unsigned col = blockIdx.x * 32 + threadIdx.x;
    unsigned row = blockIdx.y * 32 + threadIdx.y;
    for (unsigned step = 0; step < 32; step += 8) {
        out[col * n + row + step] = input[(row + step) * n + col];
    }
}
