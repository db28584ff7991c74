/* Has Mesa's r600 driver compile a program's shaders for an RV770, and print them (R600_DEBUG).
 *
 *     rv770 FILE.vert [FILE.geom] FILE.frag
 *
 * There is no GPU: examples/shaders/mesa.c answers the driver in the kernel's place. What is drawn is of no matter.
 */
#define PCI_ID 0x9440
#define DRIVER "r600"
#define GPU "RV770"
#define main r300_main
#include "../../../../examples/shaders/mesa.c"
#undef main

static GLenum kind(const char *name) {
    if (strstr(name, ".vert")) return GL_VERTEX_SHADER;
    if (strstr(name, ".geom")) return GL_GEOMETRY_SHADER;
    return GL_FRAGMENT_SHADER;
}

int main(int argc, char **argv) {
    open_context();
    GLuint program = glCreateProgram();
    for (int n = 1; n < argc; n++) {
        static char source[1 << 16];
        FILE *file = fopen(argv[n], "r");
        if (!file) die(argv[n], strerror(errno));
        source[fread(source, 1, sizeof source - 1, file)] = 0;
        fclose(file);
        glAttachShader(program, shader(kind(argv[n]), argv[n], source));
    }
    const char *attributes[3] = {"a0", "a1", "a2"};
    for (GLuint n = 0; n < 3; n++) glBindAttribLocation(program, n, attributes[n]);
    glLinkProgram(program);
    GLint ok;
    char log[4096];
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    if (!ok) die("link", log);
    glUseProgram(program);
    GLuint texture, framebuffer;
    glGenTextures_(1, &texture);
    glBindTexture_(GL_TEXTURE_2D, texture);
    glTexImage2D_(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    static float vertices[64];
    for (GLuint n = 0; n < 3; n++) {
        glVertexAttribPointer(n, 4, GL_FLOAT, GL_FALSE, 0, vertices);
        glEnableVertexAttribArray(n);
    }
    glDrawArrays_(GL_TRIANGLES, 0, 3);
    glFinish_();
    return 0;
}
