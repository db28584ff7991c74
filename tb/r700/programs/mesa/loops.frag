#version 150
// Loops inside one another that are continued and left from branches; a discard.
in vec4 v0, v1;
out vec4 color;
uniform int n;
void main() {
    vec4 c = v0;
    for (int i = 0; i < n; i++) {
        if (c.x > v1.x) {
            c.y += 1.0;
            if (c.y > v1.y) continue;
            c.z *= v1.z;
        }
        int k = 0;
        while (c.z < v1.w) {
            c.z += 1.0;
            if (c.z > c.y) {
                k++;
                if (k > 3) continue;
                c.w -= 1.0;
            } else if (c.w < 0.5) {
                break;
            }
            c.w *= 0.75;
        }
        if (c.z > 9.0) break;
        c.x += v1.w;
    }
    if (c.w < 0.0) discard;
    color = c;
}
