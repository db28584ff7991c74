// trap and brkpt under conditions.
extern "C" __global__ void traps(const int *in, int *out, int n) {
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        int v = in[t + i];
        if (v == 1000) __trap();
        if (v == 2000) __brkpt();
        sum += v;
    }
    out[t] = sum;
}
