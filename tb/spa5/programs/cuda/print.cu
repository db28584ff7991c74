// printf where threads have parted, in a loop, and with a double.
extern "C" __global__ void print(const int *in, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        int v = in[t + i];
        if (v > 10)
            printf("%d: %d\n", t, v);
        else if (v < 0) {
            printf("negative %f\n", v * 0.5);
            break;
        }
    }
}
