#version 150
in vec4 w0, w1;
out vec4 color;
void main() {
    color = w0.x > w1.x ? w0 : w1;
}
