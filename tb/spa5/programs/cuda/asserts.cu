// assert in a loop, and in a function that is called where threads have parted.
__device__ __noinline__ int checked(const int *in, int i) {
    int v = in[i];
    assert(v >= 0);
    return v * 3;
}
extern "C" __global__ void asserts(const int *in, int *out, int n) {
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        int v = in[t * n + i];
        assert(v != t);
        if (v & 1) sum += checked(in, v);
    }
    out[t] = sum;
}
