// Division and square root that have a slow path, integers and floating point.
extern "C" __global__ void divides(const long long *a, const double *b, const int *c, const float *d,
                                   long long *out, double *fout, int n) {
    int t = threadIdx.x;
    long long s = a[t];
    unsigned long long u = a[t + 1];
    double x = b[t];
    for (int i = 1; i < n; i++) {
        long long v = a[t + i];
        if (v == 0) continue;
        s = s / v + s % v;
        u = u % (unsigned long long)v;
        x = x / b[t + i] + sqrt(x) + 1.0 / x;
        s += c[i] / c[t] + (int)(d[t] / d[i]);
    }
    out[t] = s + u;
    fout[t] = x;
}
