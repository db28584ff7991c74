/* Compiles a fragment shader with Mesa's r300 driver and prints what the driver sends to the GPU.
 *
 *     mesa FILE.frag >FILE.txt
 *
 * There is no GPU. Mesa believes that /dev/null is an ATI RV515 behind the kernel's radeon driver, because
 * this program answers its ioctls. It draws one triangle with the shader and reads the command stream:
 * instructions, constants, registers. A uniform is found among the constants by changing it and looking
 * which constant changes. The output is a `# SLOTS` listing as src/r500/import.rs reads it.
 *
 * The shader is GLSL 1.20 with varyings v0, v1, v2 (vec4). Its lines `// render: ...` go to `# RENDER`.
 * Needs Mesa's EGL, GBM and r300 driver, and nothing but their libraries at run time.
 */
#define _GNU_SOURCE
#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Another of Mesa's drivers for the same kernel driver can be asked for: PCI id, driver, name of the GPU. */
#ifndef PCI_ID
#define PCI_ID 0x7140
#define DRIVER "r300"
#define GPU "RV515"
#endif

static void die(const char *what, const char *why) {
    fprintf(stderr, "mesa: %s: %s\n", what, why);
    exit(1);
}

/* ---- what the GPU is sent ---------------------------------------------------------------------------- */

enum { SLOTS = 512, CONSTANTS = 256 };

/* Numbers of registers; the values are in docs/spec/r500.md, 2.1, and in Mesa's r300_reg.h. */
enum {
    RS_INST_COUNT = 0x4304,
    RS_INST = 0x4320,
    GA_US_VECTOR_INDEX = 0x4250,
    GA_US_VECTOR_DATA = 0x4254,
    US_PIXSIZE = 0x4604,
    US_FC_CTRL = 0x4624,
    US_CODE_ADDR = 0x4630,
    US_CODE_OFFSET = 0x4638,
    US_FC_INT_CONST = 0x4c00,
};

static struct {
    uint32_t slots[SLOTS][6];
    float constants[CONSTANTS][4];
    uint32_t registers[0x8000 / 4];
    unsigned draws;
} gpu;

static void write_register(uint32_t address, uint32_t value) {
    static uint32_t index, word;
    if (address == GA_US_VECTOR_INDEX) {
        index = value;
        word = 0;
    } else if (address == GA_US_VECTOR_DATA) {
        uint32_t at = index & 0x1ff;
        if (index >> 16 & 1) {
            at = at + word / 4;
            if (at < CONSTANTS) memcpy(&gpu.constants[at][word % 4], &value, 4);
        } else {
            at = at + word / 6;
            if (at < SLOTS) gpu.slots[at][word % 6] = value;
        }
        word++;
    } else if (address < sizeof gpu.registers) {
        gpu.registers[address / 4] = value;
    }
}

static uint32_t read_register(uint32_t address) { return gpu.registers[address / 4]; }

/* A command stream: packets of type 0 write registers, of type 3 do everything else. */
static void commands(const uint32_t *stream, uint32_t length) {
    for (uint32_t at = 0; at < length;) {
        uint32_t header = stream[at++];
        uint32_t count = (header >> 16 & 0x3fff) + 1;
        if (header >> 30 == 0) {
            uint32_t address = (header & 0x1fff) << 2;
            int same = header >> 15 & 1;
            for (uint32_t n = 0; n < count && at < length; n++, at++)
                write_register(same ? address : address + 4 * n, stream[at]);
        } else if (header >> 30 == 3) {
            /* 3D_DRAW_VBUF, _IMMD, _INDX and their second forms. */
            uint32_t opcode = header >> 8 & 0xff;
            gpu.draws += opcode >= 0x28 && opcode <= 0x36;
            at += count;
        }
    }
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* /dev/null stands for the GPU; the driver duplicates the descriptor, so it is known by its number. */
static int is_gpu(int fd) {
    struct stat st;
    return fd >= 0 && syscall(SYS_newfstatat, fd, "", &st, 0x1000) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == makedev(1, 3);
}

struct version {
    int major, minor, patch;
    size_t name_len;
    char *name;
    size_t date_len;
    char *date;
    size_t desc_len;
    char *desc;
};

static void answer(size_t *length, char *to, const char *text) {
    if (to) memcpy(to, text, *length < strlen(text) ? *length : strlen(text));
    *length = strlen(text);
}

static int info(uint32_t request, uint32_t *value) {
    switch (request) {
    case 0: *value = PCI_ID; return 0;
    case 1: case 2: *value = 1; return 0;  /* one pipe of each kind */
    case 3: case 5: *value = 1; return 0;  /* acceleration works */
    default: *value = 0; return 0;
    }
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!is_gpu(fd) || (request >> 8 & 0xff) != 'd') return (int)syscall(SYS_ioctl, fd, request, argument);
    static uint32_t buffers;
    uint32_t *words = argument;
    uint64_t *longs = argument;
    switch (request & 0xff) {
    case 0x00: {
        struct version *version = argument;
        version->major = 2;
        version->minor = 50;
        version->patch = 0;
        answer(&version->name_len, version->name, "radeon");
        answer(&version->date_len, version->date, "20080528");
        answer(&version->desc_len, version->desc, "ATI Radeon");
        return 0;
    }
    case 0x09: return 0;                                               /* GEM_CLOSE */
    case 0x0c: longs[1] = 0; return 0;                                 /* GET_CAP */
    case 0x5c: longs[0] = longs[1] = longs[2] = 256 << 20; return 0;   /* GEM_INFO: memory */
    case 0x5d: words[4] = ++buffers; return 0;                         /* GEM_CREATE: handle */
    case 0x5e: longs[3] = (uint64_t)words[0] << 28; return 0;          /* GEM_MMAP: offset */
    case 0x63: case 0x64: case 0x68: return 0;                         /* SET_DOMAIN, WAIT_IDLE, SET_TILING */
    case 0x69: words[1] = words[2] = 0; return 0;                      /* GET_TILING */
    case 0x6a: words[1] = 2; return 0;                                 /* BUSY: idle, in memory */
    case 0x67: return info(words[0], (uint32_t *)(uintptr_t)longs[1]); /* INFO */
    case 0x66: {                                                       /* CS */
        struct chunk { uint32_t id, length; uint64_t data; };
        uint64_t *chunks = (uint64_t *)(uintptr_t)longs[1];
        for (uint32_t n = 0; n < words[0]; n++) {
            struct chunk *chunk = (struct chunk *)(uintptr_t)chunks[n];
            if (chunk->id == 2) commands((uint32_t *)(uintptr_t)chunk->data, chunk->length);
        }
        return 0;
    }
    }
    errno = EINVAL;
    return -1;
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
    /* A buffer of the GPU is memory that nothing shares. */
    if (is_gpu(fd)) flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1, offset = 0;
    return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    return mmap64(at, length, protection, flags, fd, offset);
}

/* libdrm would look for the device in /sys. */
struct device {
    char **nodes;
    int available, bus;
    void *bus_info, *device_info;
};

int drmGetDevice2(int fd, uint32_t flags, struct device **device) {
    static char *nodes[3] = {"/dev/null", "/dev/null", "/dev/null"};
    static uint16_t bus[4], numbers[4] = {0x1002, PCI_ID, 0, 0};
    static struct device gpu_device = {nodes, 5, 0, bus, numbers};
    (void)flags;
    if (!is_gpu(fd)) return -EINVAL;
    *device = &gpu_device;
    return 0;
}

void drmFreeDevice(struct device **device) { *device = NULL; }

/* ---- OpenGL ---------------------------------------------------------------------------------------------- */

#define GL_FUNCTIONS(f)                                                                                    \
    f(PFNGLCREATESHADERPROC, glCreateShader) f(PFNGLSHADERSOURCEPROC, glShaderSource)                      \
    f(PFNGLCOMPILESHADERPROC, glCompileShader) f(PFNGLGETSHADERIVPROC, glGetShaderiv)                      \
    f(PFNGLGETSHADERINFOLOGPROC, glGetShaderInfoLog) f(PFNGLCREATEPROGRAMPROC, glCreateProgram)            \
    f(PFNGLATTACHSHADERPROC, glAttachShader) f(PFNGLBINDATTRIBLOCATIONPROC, glBindAttribLocation)          \
    f(PFNGLLINKPROGRAMPROC, glLinkProgram) f(PFNGLGETPROGRAMIVPROC, glGetProgramiv)                        \
    f(PFNGLGETPROGRAMINFOLOGPROC, glGetProgramInfoLog) f(PFNGLUSEPROGRAMPROC, glUseProgram)                \
    f(PFNGLGETACTIVEUNIFORMPROC, glGetActiveUniform) f(PFNGLGETUNIFORMLOCATIONPROC, glGetUniformLocation)  \
    f(PFNGLUNIFORM1IPROC, glUniform1i) f(PFNGLUNIFORM1FVPROC, glUniform1fv)                                \
    f(PFNGLUNIFORM2FVPROC, glUniform2fv) f(PFNGLUNIFORM3FVPROC, glUniform3fv)                              \
    f(PFNGLUNIFORM4FVPROC, glUniform4fv) f(PFNGLGENFRAMEBUFFERSPROC, glGenFramebuffers)                    \
    f(PFNGLBINDFRAMEBUFFERPROC, glBindFramebuffer) f(PFNGLFRAMEBUFFERTEXTURE2DPROC, glFramebufferTexture2D) \
    f(PFNGLCHECKFRAMEBUFFERSTATUSPROC, glCheckFramebufferStatus)                                           \
    f(PFNGLVERTEXATTRIBPOINTERPROC, glVertexAttribPointer)                                                 \
    f(PFNGLENABLEVERTEXATTRIBARRAYPROC, glEnableVertexAttribArray) f(PFNGLDRAWARRAYS_, glDrawArrays_)      \
    f(PFNGLFINISH_, glFinish_) f(PFNGLGENTEXTURES_, glGenTextures_) f(PFNGLBINDTEXTURE_, glBindTexture_)   \
    f(PFNGLTEXIMAGE2D_, glTexImage2D_) f(PFNGLGETSTRING_, glGetString_)

typedef void (*PFNGLDRAWARRAYS_)(GLenum, GLint, GLsizei);
typedef void (*PFNGLFINISH_)(void);
typedef void (*PFNGLGENTEXTURES_)(GLsizei, GLuint *);
typedef void (*PFNGLBINDTEXTURE_)(GLenum, GLuint);
typedef void (*PFNGLTEXIMAGE2D_)(GLenum, GLint, GLint, GLsizei, GLsizei, GLint, GLenum, GLenum, const void *);
typedef const GLubyte *(*PFNGLGETSTRING_)(GLenum);

#define DECLARE(type, name) static type name;
GL_FUNCTIONS(DECLARE)

static void load_functions(void) {
#define LOAD(type, name)                                                    \
    {                                                                       \
        char plain[64] = #name;                                             \
        if (plain[strlen(plain) - 1] == '_') plain[strlen(plain) - 1] = 0;  \
        name = (type)eglGetProcAddress(plain);                              \
        if (!name) die(plain, "is not there");                              \
    }
    GL_FUNCTIONS(LOAD)
}

static void open_context(void) {
    setenv("MESA_LOADER_DRIVER_OVERRIDE", DRIVER, 1);
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    void *gbm = dlopen("libgbm.so.1", RTLD_NOW);
    if (!gbm) die("libgbm.so.1", dlerror());
    void *(*create)(int) = (void *(*)(int))dlsym(gbm, "gbm_create_device");
    void *device = create ? create(fd) : NULL;
    if (!device) die("gbm_create_device", "Mesa's " DRIVER " driver did not start");
    EGLDisplay display = eglGetPlatformDisplay(0x31d7 /* GBM */, device, NULL);
    if (!eglInitialize(display, NULL, NULL)) die("eglInitialize", "failed");
    eglBindAPI(EGL_OPENGL_API);
    EGLContext context = eglCreateContext(display, NULL, EGL_NO_CONTEXT, NULL);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) die("eglMakeCurrent", "failed");
    load_functions();
    if (!strstr((const char *)glGetString_(GL_RENDERER), GPU))
        die((const char *)glGetString_(GL_RENDERER), "is not the " DRIVER " driver");
}

static GLuint shader(GLenum kind, const char *name, const char *source) {
    GLuint shader = glCreateShader(kind);
    GLint ok;
    char log[4096];
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (!ok) die(name, log);
    return shader;
}

struct uniform {
    char name[64];
    GLenum type;
    GLint location, components;
};

/* Gives a uniform a value that nothing else has; `changed` gives another one. */
static void set(const struct uniform *u, int n, int changed, float value[4]) {
    for (int c = 0; c < 4; c++) value[c] = 1000.0f + 100.0f * n + 10.0f * c + 1.0f * changed;
    switch (u->type) {
    case GL_BOOL: value[0] = changed; glUniform1i(u->location, changed); break;
    case GL_FLOAT: glUniform1fv(u->location, 1, value); break;
    case GL_FLOAT_VEC2: glUniform2fv(u->location, 1, value); break;
    case GL_FLOAT_VEC3: glUniform3fv(u->location, 1, value); break;
    case GL_FLOAT_VEC4: glUniform4fv(u->location, 1, value); break;
    case GL_SAMPLER_2D: glUniform1i(u->location, 0); break;
    default: die(u->name, "has a type that is not handled");
    }
}

static void draw(void) {
    unsigned before = gpu.draws;
    glDrawArrays_(GL_TRIANGLES, 0, 3);
    glFinish_();
    if (gpu.draws == before) die("glDrawArrays", "nothing was drawn; did the shader compile?");
}

int main(int argc, char **argv) {
    if (argc != 2) die("usage", "mesa FILE.frag");
    static char source[1 << 16];
    FILE *file = fopen(argv[1], "r");
    if (!file) die(argv[1], strerror(errno));
    if (fread(source, 1, sizeof source - 1, file) == sizeof source - 1) die(argv[1], "is too long");
    fclose(file);
    open_context();

    GLuint program = glCreateProgram();
    glAttachShader(program, shader(GL_VERTEX_SHADER, "vertex shader",
        "#version 120\n"
        "attribute vec4 a0, a1, a2, a3; varying vec4 v0, v1, v2;\n"
        "void main() { gl_Position = a0; v0 = a1; v1 = a2; v2 = a3; }\n"));
    glAttachShader(program, shader(GL_FRAGMENT_SHADER, argv[1], source));
    const char *attributes[4] = {"a0", "a1", "a2", "a3"};
    for (GLuint n = 0; n < 4; n++) glBindAttribLocation(program, n, attributes[n]);
    glLinkProgram(program);
    GLint ok, uniforms;
    char log[4096];
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    if (!ok) die(argv[1], log);
    glUseProgram(program);

    GLuint texture, framebuffer;
    glGenTextures_(1, &texture);
    glBindTexture_(GL_TEXTURE_2D, texture);
    glTexImage2D_(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) die("framebuffer", "is not complete");
    static const float vertices[3][4] = {{-1, -1, 0, 1}, {3, -1, 0, 1}, {-1, 3, 0, 1}};
    for (GLuint n = 0; n < 4; n++) {
        glVertexAttribPointer(n, 4, GL_FLOAT, GL_FALSE, 0, vertices);
        glEnableVertexAttribArray(n);
    }

    /* Which constant is which uniform. */
    static struct uniform all[64];
    static float before[CONSTANTS][4];
    static int owner[CONSTANTS];
    float value[4];
    glGetProgramiv(program, GL_ACTIVE_UNIFORMS, &uniforms);
    if (uniforms > 64) die(argv[1], "has more than 64 uniforms");
    for (int n = 0; n < uniforms; n++) {
        GLint size;
        glGetActiveUniform(program, n, sizeof all[n].name, NULL, &size, &all[n].type, all[n].name);
        if (size != 1) die(all[n].name, "is an array");
        all[n].location = glGetUniformLocation(program, all[n].name);
        set(&all[n], n, 0, value);
    }
    draw();
    memcpy(before, gpu.constants, sizeof before);
    for (int n = 0; n < uniforms; n++) {
        if (all[n].type == GL_SAMPLER_2D) continue;
        set(&all[n], n, 1, value);
        draw();
        for (int c = 0; c < CONSTANTS; c++) {
            if (memcmp(before[c], gpu.constants[c], sizeof before[c]) == 0) continue;
            int components = all[n].type == GL_FLOAT || all[n].type == GL_BOOL ? 1 : all[n].type - GL_FLOAT_VEC2 + 2;
            if (owner[c] || memcmp(gpu.constants[c], value, 4 * components) != 0)
                die(all[n].name, "does not stand in a constant by itself");
            owner[c] = n + 1;
        }
        set(&all[n], n, 0, value);
    }
    draw();

    /* The listing. */
    uint32_t code = read_register(US_CODE_ADDR), end = code >> 16 & 0x1ff;
    if (read_register(US_CODE_OFFSET) & 0x1ff) die("US_CODE_OFFSET", "is not 0");
    printf("# GLSL\n%s", source);
    printf("# MESA %s; RENDERER %s\n# INPUTS\n", glGetString_(GL_VERSION), glGetString_(GL_RENDERER));
    for (uint32_t n = 0; n <= (read_register(RS_INST_COUNT) & 15); n++) {
        uint32_t inst = read_register(RS_INST + 4 * n);
        if (inst >> 4 & 1) printf("IN t%u = GENERIC%u\n", inst >> 5 & 0x7f, inst & 15);
    }
    /* Constants are those that an instruction reads. */
    static char used[CONSTANTS];
    for (uint32_t n = 0; n <= end; n++)
        for (int word = 1; word <= 2 && (gpu.slots[n][0] & 3) < 2; word++)
            for (int s = 0; s < 30; s += 10)
                if (gpu.slots[n][word] >> (s + 8) & 1) used[gpu.slots[n][word] >> s & 0xff] = 1;
    printf("# CONSTANTS\n");
    for (int c = 0; c < CONSTANTS; c++) {
        const float *v = gpu.constants[c];
        if (!used[c]) continue;
        if (owner[c]) printf("CONST c%d EXTERNAL %d\n", c, owner[c] - 1);
        else printf("CONST c%d IMM %.9g %.9g %.9g %.9g\n", c, v[0], v[1], v[2], v[3]);
    }
    printf("# GL UNIFORMS\n");
    for (int n = 0; n < uniforms; n++)
        printf("UNIFORM %s size 1 type 0x%x location %d\n", all[n].name, all[n].type, all[n].location);
    printf("# RENDER\n");
    for (char *line = strtok(source, "\n"); line; line = strtok(NULL, "\n")) {
        static const char mark[] = "// render: ";
        if (strncmp(line, mark, strlen(mark)) == 0) printf("%s\n", line + strlen(mark));
    }
    printf("# SLOTS\n");
    for (uint32_t n = 0; n <= end; n++) {
        const uint32_t *w = gpu.slots[n];
        printf("%u %08x %08x %08x %08x %08x %08x\n", n, w[0], w[1], w[2], w[3], w[4], w[5]);
    }
    printf("# REGISTERS\nUS_PIXSIZE %08x\nUS_FC_CTRL %08x\n", read_register(US_PIXSIZE), read_register(US_FC_CTRL));
    for (int n = 0; n < 32; n++)
        if (read_register(US_FC_INT_CONST + 4 * n))
            printf("US_FC_INT_CONST_%d %08x\n", n, read_register(US_FC_INT_CONST + 4 * n));
    printf("US_CODE_ADDR start=%u end=%u\n", code & 0x1ff, end);
    return 0;
}
