/* libcuda: copies copy and sets set, at once. */
#include <string.h>
#include <sys/mman.h>

#include "cuda.h"
#include "sim.h"

#define COPY(name, ...) \
    API CUresult name(__VA_ARGS__) { \
        if (bytes) \
            memmove((void *)to, (const void *)from, bytes); \
        return CUDA_SUCCESS; \
    }
COPY(cuMemcpy, CUdeviceptr to, CUdeviceptr from, size_t bytes)
COPY(cuMemcpyHtoD_v2, CUdeviceptr to, const void *from, size_t bytes)
COPY(cuMemcpyDtoH_v2, void *to, CUdeviceptr from, size_t bytes)
COPY(cuMemcpyDtoD_v2, CUdeviceptr to, CUdeviceptr from, size_t bytes)
#pragma GCC diagnostic ignored "-Wunused-parameter"
COPY(cuMemcpyAsync, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
COPY(cuMemcpyHtoDAsync_v2, CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
COPY(cuMemcpyDtoHAsync_v2, void *to, CUdeviceptr from, size_t bytes, CUstream stream)
COPY(cuMemcpyDtoDAsync_v2, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
COPY(cuMemcpyPeer, CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes)
COPY(cuMemcpyPeerAsync, CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes, CUstream stream)

API CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t bytes) {
    char *start = (char *)address, *end = start + bytes;
    if (value == 0 && bytes >= MIB) {
        /* Whole pages of zeroes are given back to the system: a large zeroed tensor costs no memory. */
        char *first = (char *)(((uintptr_t)start + 4095) & ~(uintptr_t)4095);
        char *last = (char *)((uintptr_t)end & ~(uintptr_t)4095);
        if (madvise(first, (size_t)(last - first), MADV_DONTNEED) == 0) {
            memset(start, 0, (size_t)(first - start));
            memset(last, 0, (size_t)(end - last));
            return CUDA_SUCCESS;
        }
    }
    memset(start, value, bytes);
    return CUDA_SUCCESS;
}

API CUresult cuMemsetD16_v2(CUdeviceptr address, unsigned short value, size_t number) {
    for (size_t index = 0; index < number; index++)
        ((unsigned short *)address)[index] = value;
    return CUDA_SUCCESS;
}

API CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned value, size_t number) {
    if (value == 0)
        return cuMemsetD8_v2(address, 0, number * 4);
    for (size_t index = 0; index < number; index++)
        ((unsigned *)address)[index] = value;
    return CUDA_SUCCESS;
}

API CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream) {
    return cuMemsetD8_v2(address, value, bytes);
}
API CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t number, CUstream stream) {
    return cuMemsetD16_v2(address, value, number);
}
API CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t number, CUstream stream) {
    return cuMemsetD32_v2(address, value, number);
}
