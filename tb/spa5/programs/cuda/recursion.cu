// Functions that call themselves and each other.
__device__ __noinline__ int odd(const int *in, int n);
__device__ __noinline__ int even(const int *in, int n) { return in[n] == 0 ? 1 : odd(in, n - 1); }
__device__ __noinline__ int odd(const int *in, int n) {
    if (in[n] == 0) return 0;
    int r = even(in, n - 1);
    return in[n] == 4 ? r + even(in, r) : r;
}
extern "C" __global__ void recursion(const int *in, int *out) {
    int t = threadIdx.x;
    if (in[t] & 1) out[t] = even(in, t); else out[t] = odd(in, t) + 1;
}
