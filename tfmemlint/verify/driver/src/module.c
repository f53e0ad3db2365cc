/* libcuda: modules and kernels. Kernels are known by name only; what a launch does is decided in kernels.c. */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "kernels.h"
#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

void sim_launch(const char *name, void **arguments) {
    static int wanted = -1; /* the names of kernels are for those who work on this driver */
    if (wanted < 0)
        wanted = getenv("TFMEMLINT_SIM_LOG_KERNELS") != NULL;
    if (wanted)
        sim_log("kernel %s", name ? name : "?");
    if (name && arguments)
        kernel_run(name, arguments);
}

static CUresult load(CUmodule *module) {
    *module = calloc(1, 16);
    return *module ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
API CUresult cuModuleLoadData(CUmodule *module, const void *image) { return load(module); }
API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) { return load(module); }
API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned number, int *options, void **values) {
    return load(module);
}

API CUresult cuModuleUnload(CUmodule module) {
    free(module);
    return CUDA_SUCCESS;
}

/* A function is its name. It is never freed, since functions outlive their module in TensorFlow's caches. */
API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    *function = strdup(name);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* A module's variable of unknown size; XLA's constants are written here. */
API CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    size_t size = 16 * MIB;
    void *start = reserve(size);
    if (!start)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (address)
        *address = (CUdeviceptr)start;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

API CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    /* 0: threads per block; 4: registers. No spills, no shared memory of its own. */
    *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0;
    return CUDA_SUCCESS;
}
API CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) { return CUDA_SUCCESS; }
API CUresult cuFuncSetCacheConfig(CUfunction function, int config) { return CUDA_SUCCESS; }

API CUresult cuFuncGetName(const char **name, CUfunction function) {
    *name = function;
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **arguments,
                            void **extra) {
    sim_launch(function, arguments);
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernelEx(const void *config, CUfunction function, void **arguments, void **extra) {
    sim_launch(function, arguments);
    return CUDA_SUCCESS;
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                                  size_t shared, unsigned flags) {
    *blocks = 8;
    return CUDA_SUCCESS;
}
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                         size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

/* XLA links its compiled kernels: an empty image serves, as kernels are known by name. */
API CUresult cuLinkCreate_v2(unsigned number, int *options, void **values, void **link) {
    *link = calloc(1, 16);
    return *link ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
API CUresult cuLinkAddData_v2(void *link, int type, void *data, size_t size, const char *name, unsigned number,
                              int *options, void **values) {
    return CUDA_SUCCESS;
}
API CUresult cuLinkComplete(void *link, void **image, size_t *size) {
    *image = link;
    *size = 16;
    return CUDA_SUCCESS;
}
API CUresult cuLinkDestroy(void *link) {
    free(link);
    return CUDA_SUCCESS;
}
