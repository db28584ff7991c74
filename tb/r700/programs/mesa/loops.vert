#version 150
in vec4 a0, a1, a2;
out vec4 v0, v1;
void main() {
    gl_Position = a0;
    v0 = a1;
    v1 = a2;
}
