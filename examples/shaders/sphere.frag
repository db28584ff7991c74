#version 120
// A sphere over a floor, found by marching along the ray of each pixel: an early exit where something is hit,
// another one where the ray is lost, light and a texture where it is worth it.
// render: VARYING v0 -1 1 0 0  1 1 0 0  -1 -1 0 0
// render: VALUE steps 60
// render: TEXTURE 0 checker
varying vec4 v0;
uniform float steps;
uniform sampler2D tiles;

void main() {
    vec3 ray = normalize(vec3(v0.xy, 1.5));
    vec3 at = vec3(0.0, 0.25, -3.0);
    float hit = 0.0;
    for (float n = 0.0; n < steps; n += 1.0) {
        vec3 from = at - vec3(0.0, 0.125, 0.0);
        float sphere = sqrt(dot(from, from)) - 1.0;
        float ground = at.y + 1.0;
        float far = min(sphere, ground);
        if (far < 0.00390625) {
            hit = sphere < ground ? 1.0 : 2.0;
            break;
        }
        if (at.z > 16.0) break;
        at += ray * far;
    }
    vec3 sky = vec3(0.25, 0.375, 0.5) + 0.25 * ray.y;
    if (hit > 1.5) {
        float shade = 1.0 / (1.0 + 0.0625 * dot(at, at));
        float dark = 1.0;
        vec3 p = at;
        for (float n = 0.0; n < 16.0; n += 1.0) {
            p += vec3(0.25, 0.25, -0.25);
            vec3 from = p - vec3(0.0, 0.125, 0.0);
            if (dot(from, from) < 1.0) {
                dark = 0.25;
                break;
            }
            if (p.y > 1.125) break;
        }
        vec4 tile = texture2D(tiles, at.xz * 0.5);
        gl_FragColor = vec4(mix(sky, (tile.rgb * 0.5 + 0.25) * dark, min(shade * 2.0, 1.0)), 1.0);
    } else if (hit > 0.5) {
        vec3 normal = normalize(at - vec3(0.0, 0.125, 0.0));
        float light = max(dot(normal, vec3(0.577350269, 0.577350269, -0.577350269)), 0.0);
        float shine = light * light;
        shine = shine * shine;
        shine = shine * shine;
        gl_FragColor = vec4(vec3(0.75, 0.25, 0.125) * (light * 0.875 + 0.125) + shine * shine * 0.5, 1.0);
    } else {
        gl_FragColor = vec4(sky, 1.0);
    }
}
