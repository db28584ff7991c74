#version 120
// Three loops inside one another, each with a break and a continue of its own, the innermost ones up to
// three branches deep. Every number is a small integer or a dyadic fraction.
// render: VARYING v0 0 0 0 0  32 0 0 0  0 32 0 0
// render: VALUE rows 5
varying vec4 v0;
uniform float rows;

void main() {
    float x = floor(v0.x), y = floor(v0.y);
    float a = x, b = y, work = 0.0;
    for (float i = 0.0; i < rows; i += 1.0) {
        a = a + 3.0;
        if (a > 30.0 + i) break;
        b = b + 1.0;
        if (b < 4.0) continue;
        for (float j = 0.0; j < 6.0; j += 1.0) {
            a = a - 1.0;
            if (a < b - 8.0) {
                b = b - 2.0;
                if (b > 20.0) {
                    if (a > 19.0) break;
                    a = a + 5.0;
                }
                continue;
            }
            work += 1.0;
            for (float k = 0.0; k < 8.0; k += 1.0) {
                b = b + 0.5;
                if (b > a) {
                    a = a + 1.0;
                    if (a > 16.0) {
                        b = b - 1.5;
                        if (fract(b) > 0.25) continue;
                        a = a - 2.0;
                    }
                    if (b > 28.0) break;
                    work += 2.0;
                }
                work += 1.0;
            }
        }
    }
    gl_FragColor = vec4(fract(a * 0.03125), fract(b * 0.03125), fract(work * 0.00390625), 1.0);
}
