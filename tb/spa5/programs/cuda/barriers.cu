// Barriers in a loop, those with a vote in them too, and a reduction.
extern "C" __global__ void barriers(const int *in, int *out, int n) {
    __shared__ int shared[64];
    int t = threadIdx.x, v = in[t];
    shared[t] = v;
    __syncthreads();
    for (int s = 32; s > 0; s >>= 1) {
        if (t < s) shared[t] += shared[t + s];
        __syncthreads();
    }
    int r = __syncthreads_count(v > 3);
    if (__syncthreads_or(v == n)) r += __syncthreads_and(v != r);
    if (t == 0 && r) out[0] = shared[0];
    out[t] = r;
}
