#version 120
// The Mandelbrot set, coloured by how soon a point leaves: two exits of one loop, at a time of its own for
// each pixel.
// render: VARYING v0 -2.25 1.5 0 0  0.75 1.5 0 0  -2.25 -1.5 0 0
// render: VALUE most 96
varying vec4 v0;
uniform float most;

void main() {
    vec2 c = v0.xy;
    vec2 z = vec2(0.0);
    float n = 0.0;
    while (n < most) {
        vec2 s = z * z;
        if (s.x + s.y > 4.0) break;
        z = vec2(s.x + c.x - s.y, 2.0 * z.x * z.y + c.y);
        n += 1.0;
    }
    if (n < most) {
        float t = fract(n * 0.03125);
        float u = 1.0 - t;
        gl_FragColor = vec4(9.0 * u * t * t * t, 15.0 * u * u * t * t, 8.5 * u * u * u * t + 0.125, 1.0);
    } else {
        gl_FragColor = vec4(0.0, 0.0, 0.0, 1.0);
    }
}
