// The operations of a small net, forwards and backwards, in single precision. Every sum runs in a fixed order and no
// thread adds to what another wrote: the same input gives the same bits. Sizes and numbers come as 64-bit words.

typedef unsigned long long u64;

__device__ float as_float(u64 bits) { return __uint_as_float((unsigned)bits); }

// The sum over a block of 256 threads, known to every thread.
__device__ float block_sum(float value) {
    __shared__ float part[256];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    float sum = part[0];
    __syncthreads();
    return sum;
}

__device__ float block_max(float value) {
    __shared__ float part[256];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    float most = part[0];
    __syncthreads();
    return most;
}

// out (m x n) = A (m x k) times B (k x n); flags: 1 A lies as k x m, 2 B lies as n x k, 4 add to out.
// A block makes a tile of 64 x 64, a thread 4 x 4 of it.
extern "C" __global__ void gemm(float *out, const float *a, const float *b, u64 m, u64 n, u64 k, u64 flags) {
    __shared__ float left[16][65];
    __shared__ float right[16][65];
    const u64 tiles = (n + 63) / 64;
    const u64 top = blockIdx.x / tiles * 64, start = blockIdx.x % tiles * 64;
    const int tid = threadIdx.x, x = tid % 16, y = tid / 16;
    float sum[4][4] = {};
    for (u64 at = 0; at < k; at += 16) {
        for (int word = tid; word < 1024; word += 256) {
            // Neighbouring threads read neighbouring words, however the matrix lies.
            int row = flags & 1 ? word % 64 : word / 16, step = flags & 1 ? word / 64 : word % 16;
            u64 i = top + row, l = at + step;
            left[step][row] = i < m && l < k ? (flags & 1 ? a[l * m + i] : a[i * k + l]) : 0.0f;
            int col = flags & 2 ? word / 16 : word % 64, deep = flags & 2 ? word % 16 : word / 64;
            u64 j = start + col, d = at + deep;
            right[deep][col] = j < n && d < k ? (flags & 2 ? b[j * k + d] : b[d * n + j]) : 0.0f;
        }
        __syncthreads();
        for (int step = 0; step < 16; step++) {
            float rows[4], cols[4];
            for (int i = 0; i < 4; i++) rows[i] = left[step][y + 16 * i];
            for (int j = 0; j < 4; j++) cols[j] = right[step][x + 16 * j];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] = fmaf(rows[i], cols[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            u64 row = top + y + 16 * i, col = start + x + 16 * j;
            if (row < m && col < n) out[row * n + col] = flags & 4 ? out[row * n + col] + sum[i][j] : sum[i][j];
        }
}

extern "C" __global__ void bias(float *y, const float *b, u64 n, u64 cols) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < n) y[at] += b[at % cols];
}

// Sums of columns: a block takes 32 columns, 8 threads each; their sums are folded in order.
__device__ float column_sum(float value) {
    __shared__ float part[8][32];
    const int col = threadIdx.x % 32, lane = threadIdx.x / 32;
    part[lane][col] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int at = 0; at < 8; at++) sum += part[at][col];
    __syncthreads();
    return sum;
}

extern "C" __global__ void bias_grad(float *out, const float *dy, u64 rows, u64 cols, u64 add) {
    u64 col = (u64)blockIdx.x * 32 + threadIdx.x % 32;
    float sum = 0.0f;
    if (col < cols)
        for (u64 row = threadIdx.x / 32; row < rows; row += 8) sum += dy[row * cols + col];
    sum = column_sum(sum);
    if (col < cols && threadIdx.x < 32) out[col] = add ? out[col] + sum : sum;
}

__device__ float inner(float x) { return 0.7978845608028654f * (x + 0.044715f * x * x * x); }

extern "C" __global__ void gelu(float *y, const float *x, u64 n) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < n) y[at] = 0.5f * x[at] * (1.0f + tanhf(inner(x[at])));
}

extern "C" __global__ void gelu_back(float *dx, const float *dy, const float *x, u64 n) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at >= n) return;
    float v = x[at], t = tanhf(inner(v));
    float slope = 0.7978845608028654f * (1.0f + 3.0f * 0.044715f * v * v);
    dx[at] = dy[at] * (0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * slope);
}

// A block a row.
extern "C" __global__ void layer_norm(float *y, float *stats, const float *x, const float *gamma, const float *beta, u64 cols) {
    const float *in = x + blockIdx.x * cols;
    float sum = 0.0f, square = 0.0f;
    for (u64 at = threadIdx.x; at < cols; at += 256) sum += in[at];
    float mean = block_sum(sum) / cols;
    for (u64 at = threadIdx.x; at < cols; at += 256) square += (in[at] - mean) * (in[at] - mean);
    float scale = 1.0f / sqrtf(block_sum(square) / cols + 1e-5f);
    for (u64 at = threadIdx.x; at < cols; at += 256)
        y[blockIdx.x * cols + at] = (in[at] - mean) * scale * gamma[at] + beta[at];
    if (threadIdx.x == 0) {
        stats[2 * (u64)blockIdx.x] = mean;
        stats[2 * (u64)blockIdx.x + 1] = scale;
    }
}

extern "C" __global__ void layer_norm_back(float *dx, const float *dy, const float *x, const float *stats, const float *gamma, u64 cols) {
    const u64 start = blockIdx.x * cols;
    const float mean = stats[2 * (u64)blockIdx.x], scale = stats[2 * (u64)blockIdx.x + 1];
    float plain = 0.0f, along = 0.0f;
    for (u64 at = threadIdx.x; at < cols; at += 256) {
        float slope = dy[start + at] * gamma[at];
        plain += slope;
        along += slope * ((x[start + at] - mean) * scale);
    }
    plain = block_sum(plain) / cols;
    along = block_sum(along) / cols;
    for (u64 at = threadIdx.x; at < cols; at += 256) {
        float unit = (x[start + at] - mean) * scale;
        dx[start + at] = scale * (dy[start + at] * gamma[at] - plain - unit * along);
    }
}

extern "C" __global__ void layer_norm_grad(float *dgamma, float *dbeta, const float *dy, const float *x, const float *stats, u64 rows, u64 cols, u64 add) {
    u64 col = (u64)blockIdx.x * 32 + threadIdx.x % 32;
    float along = 0.0f, plain = 0.0f;
    if (col < cols)
        for (u64 row = threadIdx.x / 32; row < rows; row += 8) {
            float slope = dy[row * cols + col];
            along += slope * (x[row * cols + col] - stats[2 * row]) * stats[2 * row + 1];
            plain += slope;
        }
    along = column_sum(along);
    plain = column_sum(plain);
    if (col < cols && threadIdx.x < 32) {
        dgamma[col] = add ? dgamma[col] + along : along;
        dbeta[col] = add ? dbeta[col] + plain : plain;
    }
}

// Attention. Row t of sample b: q, k and v lie side by side, each heads * size wide.
// A block a row of scores: (b, head, i).
extern "C" __global__ void scores(float *p, const float *qkv, u64 seq, u64 heads, u64 size) {
    const u64 width = heads * size, i = blockIdx.x % seq, head = blockIdx.x / seq % heads, b = blockIdx.x / seq / heads;
    const float *q = qkv + (b * seq + i) * 3 * width + head * size;
    float *row = p + (u64)blockIdx.x * seq;
    const float factor = 1.0f / sqrtf((float)size);
    float most = -3.4e38f, sum = 0.0f;
    for (u64 j = threadIdx.x; j <= i; j += 256) {
        const float *k = qkv + (b * seq + j) * 3 * width + width + head * size;
        float score = 0.0f;
        for (u64 c = 0; c < size; c++) score = fmaf(q[c], k[c], score);
        row[j] = score * factor;
        most = fmaxf(most, row[j]);
    }
    most = block_max(most);
    for (u64 j = threadIdx.x; j <= i; j += 256) {
        row[j] = expf(row[j] - most);
        sum += row[j];
    }
    sum = block_sum(sum);
    for (u64 j = threadIdx.x; j < seq; j += 256) row[j] = j <= i ? row[j] / sum : 0.0f;
}

// A block a row of the output: (b, i).
extern "C" __global__ void mix(float *out, const float *p, const float *qkv, u64 seq, u64 heads, u64 size) {
    const u64 width = heads * size, i = blockIdx.x % seq, b = blockIdx.x / seq;
    for (u64 c = threadIdx.x; c < width; c += 256) {
        const float *row = p + ((b * heads + c / size) * seq + i) * seq;
        float sum = 0.0f;
        for (u64 j = 0; j <= i; j++) sum = fmaf(row[j], qkv[(b * seq + j) * 3 * width + 2 * width + c], sum);
        out[(b * seq + i) * width + c] = sum;
    }
}

extern "C" __global__ void scores_back(float *ds, const float *dout, const float *p, const float *qkv, u64 seq, u64 heads, u64 size) {
    const u64 width = heads * size, i = blockIdx.x % seq, head = blockIdx.x / seq % heads, b = blockIdx.x / seq / heads;
    const float *given = dout + (b * seq + i) * width + head * size;
    const float *weight = p + (u64)blockIdx.x * seq;
    float *row = ds + (u64)blockIdx.x * seq;
    float along = 0.0f;
    for (u64 j = threadIdx.x; j <= i; j += 256) {
        const float *v = qkv + (b * seq + j) * 3 * width + 2 * width + head * size;
        float slope = 0.0f;
        for (u64 c = 0; c < size; c++) slope = fmaf(given[c], v[c], slope);
        row[j] = slope;
        along += slope * weight[j];
    }
    along = block_sum(along);
    const float factor = 1.0f / sqrtf((float)size);
    for (u64 j = threadIdx.x; j < seq; j += 256) row[j] = j <= i ? weight[j] * (row[j] - along) * factor : 0.0f;
}

// A block a row (b, t): the gradients of its q, k and v.
extern "C" __global__ void mix_back(float *dqkv, const float *ds, const float *dout, const float *p, const float *qkv, u64 seq, u64 heads, u64 size) {
    const u64 width = heads * size, t = blockIdx.x % seq, b = blockIdx.x / seq;
    for (u64 c = threadIdx.x; c < width; c += 256) {
        const u64 start = (b * heads + c / size) * seq;
        float q = 0.0f, k = 0.0f, v = 0.0f;
        for (u64 j = 0; j <= t; j++) q = fmaf(ds[(start + t) * seq + j], qkv[(b * seq + j) * 3 * width + width + c], q);
        for (u64 i = t; i < seq; i++) {
            k = fmaf(ds[(start + i) * seq + t], qkv[(b * seq + i) * 3 * width + c], k);
            v = fmaf(p[(start + i) * seq + t], dout[(b * seq + i) * width + c], v);
        }
        float *out = dqkv + (b * seq + t) * 3 * width + c;
        out[0] = q;
        out[width] = k;
        out[2 * width] = v;
    }
}

extern "C" __global__ void add(float *y, const float *x, u64 n) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < n) y[at] += x[at];
}

extern "C" __global__ void sum(float *out, const float *a, const float *b, u64 n) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < n) out[at] = a[at] + b[at];
}

// Cross-entropy: a block a row; logits become their gradient.
extern "C" __global__ void loss(float *losses, float *logits, const float *targets, u64 cols, u64 scale) {
    float *row = logits + blockIdx.x * cols;
    const u64 target = (u64)targets[blockIdx.x];
    const float factor = as_float(scale);
    float most = -3.4e38f, total = 0.0f;
    for (u64 at = threadIdx.x; at < cols; at += 256) most = fmaxf(most, row[at]);
    most = block_max(most);
    for (u64 at = threadIdx.x; at < cols; at += 256) total += expf(row[at] - most);
    total = block_sum(total);
    if (threadIdx.x == 0) losses[blockIdx.x] = logf(total) - (row[target] - most);
    __syncthreads();
    for (u64 at = threadIdx.x; at < cols; at += 256)
        row[at] = (expf(row[at] - most) / total - (at == target ? 1.0f : 0.0f)) * factor;
}

extern "C" __global__ void sgd(float *w, const float *g, u64 n, u64 rate) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < n) w[at] -= as_float(rate) * g[at];
}

extern "C" __global__ void adamw(float *w, const float *g, float *m, float *v, u64 n, u64 rate, u64 beta1, u64 beta2, u64 eps, u64 decay, u64 correct1, u64 correct2) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at >= n) return;
    float b1 = as_float(beta1), b2 = as_float(beta2), slope = g[at];
    m[at] = b1 * m[at] + (1.0f - b1) * slope;
    v[at] = b2 * v[at] + (1.0f - b2) * slope * slope;
    float step = m[at] / as_float(correct1) / (sqrtf(v[at] / as_float(correct2)) + as_float(eps));
    w[at] -= as_float(rate) * (step + as_float(decay) * w[at]);
}
