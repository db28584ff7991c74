#version 150
// Emits what it likes of a triangle, from a loop that is continued.
layout(triangles) in;
layout(triangle_strip, max_vertices = 12) out;
in vec4 v0[], v1[];
out vec4 w0, w1;
uniform int n;
void main() {
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 3; i++) {
            if (v0[i].x < 0.0) continue;
            gl_Position = gl_in[i].gl_Position;
            w0 = v0[i];
            w1 = v1[i];
            EmitVertex();
            if (v1[i].y > 1.0) EndPrimitive();
        }
        if (v0[0].w > float(k)) break;
    }
}
