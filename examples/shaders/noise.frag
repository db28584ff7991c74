#version 120
// Value noise in octaves over a lattice of hashed corners. Where it is dark enough a pixel stops adding
// octaves, so that neighbours need different numbers of passes.
// render: VARYING v0 0 0 0 0  6 0 0 0  0 6 0 0
// render: VALUE octaves 6
varying vec4 v0;
uniform float octaves;

float corner(vec2 p) {
    p = fract(p * vec2(0.1031, 0.1030));
    float d = dot(p, p.yx + 33.33);
    p += d;
    return fract((p.x + p.y) * p.x);
}

float noise(vec2 p) {
    vec2 cell = floor(p);
    vec2 f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    float top = mix(corner(cell), corner(cell + vec2(1.0, 0.0)), f.x);
    float bottom = mix(corner(cell + vec2(0.0, 1.0)), corner(cell + vec2(1.0, 1.0)), f.x);
    return mix(top, bottom, f.y);
}

void main() {
    vec2 p = v0.xy;
    float sum = 0.0, scale = 0.5, n = 0.0;
    while (n < octaves) {
        sum += scale * noise(p);
        n += 1.0;
        if (sum < 0.1875 * n) break;
        p = p * 2.0 + 17.0;
        scale *= 0.5;
    }
    if (sum > 0.625) {
        gl_FragColor = vec4(vec3(1.0) * sum, 1.0);
    } else if (sum > 0.40625) {
        gl_FragColor = vec4(vec3(0.25, 0.5, 0.125) * (sum + 0.375), 1.0);
    } else {
        gl_FragColor = vec4(0.0625, 0.125 + 0.25 * sum, 0.375 + 0.5 * sum, 1.0);
    }
}
