/* libcudart: kernels as nvcc's code registers and launches them, and the properties that launches are planned by. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

typedef struct {
    unsigned x, y, z;
} dim3;

/* Registered kernels: the address that stands for one in the program, and its mangled name. A hash table without
 * deletion; TensorFlow registers tens of thousands while it is loaded, before anything is configured. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const void *function;
    const char *name;
} *kernels;
static size_t count, room;

static size_t place_of(const void *function) {
    size_t place = ((uintptr_t)function >> 4) * 0x9E3779B97F4A7C15u & (room - 1);
    while (kernels[place].function && kernels[place].function != function)
        place = (place + 1) & (room - 1);
    return place;
}

static void grow(void) {
    size_t old_room = room;
    __typeof__(kernels) old = kernels;
    room = room ? room * 2 : 1 << 15;
    kernels = calloc(room, sizeof *kernels);
    if (!kernels)
        abort();
    for (size_t index = 0; index < old_room; index++)
        if (old[index].function)
            kernels[place_of(old[index].function)] = old[index];
    free(old);
}

API void __cudaRegisterFunction(void **module, const char *function, char *device_function, const char *name,
                                int threads, void *a, void *b, void *c, void *d, int *e) {
    pthread_mutex_lock(&lock);
    if (count * 2 >= room)
        grow();
    size_t place = place_of(function);
    if (!kernels[place].function)
        count++;
    kernels[place].function = function;
    kernels[place].name = name; /* a literal of the program */
    pthread_mutex_unlock(&lock);
}

static const char *name_of(const void *function) {
    pthread_mutex_lock(&lock);
    const char *name = room ? kernels[place_of(function)].name : NULL;
    pthread_mutex_unlock(&lock);
    return name;
}

API void **__cudaRegisterFatBinary(void *image) {
    static void *module;
    return &module;
}
API void __cudaRegisterFatBinaryEnd(void **module) {}
API void __cudaUnregisterFatBinary(void **module) {}
API void __cudaRegisterVar(void **module, char *variable, char *address, const char *name, int external, size_t bytes,
                           int constant, int global) {}
API void __cudaRegisterManagedVar(void **module, void **variable, char *address, const char *name, int external,
                                  size_t bytes, int constant, int global) {}
API char __cudaInitModule(void **module) { return 1; }

static __thread struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
} configuration;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    configuration.grid = grid;
    configuration.block = block;
    configuration.shared = shared;
    configuration.stream = stream;
    return 0;
}
API int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = configuration.shared;
    *(void **)stream = configuration.stream;
    return 0;
}

API int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    sim_launch(name_of(function), arguments);
    return 0;
}
API int cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    void *stream) {
    sim_launch(name_of(function), arguments);
    return 0;
}
API int cudaLaunchKernelExC(const void *config, const void *function, void **arguments) {
    sim_launch(name_of(function), arguments);
    return 0;
}
API int __cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                           void *stream) {
    return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}
API int __cudaGetKernel(const void **kernel, const void *function) { return *kernel = function, 0; }
API int cudaLaunchHostFunc(void *stream, void (*call)(void *), void *data) {
    call(data);
    return 0;
}

/* A function of the runtime is given to the driver as its name, which is what a function is there. */
API int cudaGetFuncBySymbol(const void **function, const void *symbol) {
    *function = name_of(symbol);
    return *function ? 0 : CUDA_ERROR_NOT_FOUND;
}

struct function_attributes {
    size_t shared, constant, local;
    int max_threads, registers, ptx_version, binary_version;
};

API int cudaFuncGetAttributes(struct function_attributes *attributes, const void *function) {
    /* Only the leading fields are written: the rest differs between CUDA's releases. */
    *attributes = (struct function_attributes){0, 0, 0, 1024, 32, 90, 90};
    return 0;
}
API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                               size_t shared, unsigned flags) {
    return *blocks = 8, 0;
}
API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared) {
    return *blocks = 8, 0;
}
NOTHING(cudaFuncSetAttribute)
NOTHING(cudaFuncSetCacheConfig)
NOTHING(cudaFuncSetSharedMemConfig)

/* A variable of the program on the device. Its content matters to kernels alone. */
API int cudaGetSymbolAddress(void **address, const void *symbol) {
    *address = calloc(1, 1 << 16);
    return *address ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
}
NOTHING(cudaMemcpyToSymbol)
NOTHING(cudaMemcpyToSymbolAsync)
NOTHING(cudaStreamSetAttribute)
NOTHING(cudaStreamSetAttribute_ptsz)
