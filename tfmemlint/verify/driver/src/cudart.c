/* libcudart: the runtime interface, on top of libcuda. What launches kernels is in cudart_kernels.c. */
#include <stddef.h>
#include <string.h>

#include "cuda.h"
#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* The driver's functions, from libcuda. */
CUresult cuInit(unsigned), cuDeviceGetCount(int *), cuDeviceGetAttribute(int *, int, int), cuCtxGetDevice(int *);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, int), cuCtxSetCurrent(CUcontext), cuCtxSynchronize(void);
CUresult cuDeviceGetPCIBusId(char *, int, int), cuDeviceGetByPCIBusId(int *, const char *);
CUresult cuDeviceCanAccessPeer(int *, int, int), cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemFree_v2(CUdeviceptr), cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned), cuMemFreeHost(void *);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream), cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t), cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
CUresult cuMemHostRegister_v2(void *, size_t, unsigned), cuMemHostUnregister(void *);
CUresult cuStreamCreateWithPriority(CUstream *, unsigned, int), cuStreamSynchronize(CUstream);
CUresult cuEventCreate(CUevent *, unsigned), cuEventRecord(CUevent, CUstream), cuEventDestroy_v2(CUevent);
CUresult cuEventElapsedTime(float *, CUevent, CUevent), cuEventSynchronize(CUevent);
CUresult cuStreamAddCallback(CUstream, void (*)(CUstream, CUresult, void *), void *, unsigned);
CUresult cuPointerGetAttribute(void *, int, CUdeviceptr), cuGetErrorString(CUresult, const char **);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

static __thread int last_error;

static int done(CUresult result) {
    if (result)
        last_error = result; /* the runtime's numbers are the driver's where it matters */
    return result;
}

/* The runtime makes the first device's context current where the thread has none. */
static int ready(void) {
    int device;
    CUcontext context;
    if (cuCtxGetDevice(&device) == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    CUresult result = cuInit(0);
    if (!result)
        result = cuDevicePrimaryCtxRetain(&context, 0);
    return done(result ? result : cuCtxSetCurrent(context));
}
#define READY() \
    do { \
        int failed = ready(); \
        if (failed) \
            return failed; \
    } while (0)

API int cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, 0; }
API int cudaDriverGetVersion(int *version) { return *version = DRIVER_VERSION, 0; }
API int cudaGetLastError(void) {
    int error = last_error;
    last_error = 0;
    return error;
}
API int cudaPeekAtLastError(void) { return last_error; }
API const char *cudaGetErrorString(int error) {
    const char *text;
    cuGetErrorString(error, &text);
    return text;
}
API const char *cudaGetErrorName(int error) {
    const char *name;
    cuGetErrorName(error, &name);
    return name;
}

API int cudaGetDeviceCount(int *count) {
    CUresult result = cuInit(0);
    *count = 0;
    return done(result ? result : cuDeviceGetCount(count));
}
API int cudaGetDevice(int *device) {
    READY();
    return done(cuCtxGetDevice(device));
}
API int cudaSetDevice(int device) {
    CUcontext context;
    CUresult result = cuDevicePrimaryCtxRetain(&context, device);
    return done(result ? result : cuCtxSetCurrent(context));
}
API int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    return done(cuDeviceGetAttribute(value, attribute, device));
}
API int cudaDeviceGetPCIBusId(char *text, int size, int device) {
    return done(cuDeviceGetPCIBusId(text, size, device));
}
API int cudaDeviceGetByPCIBusId(int *device, const char *text) { return done(cuDeviceGetByPCIBusId(device, text)); }
API int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    return done(cuDeviceCanAccessPeer(can, device, peer));
}
API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { return *least = 0, *greatest = -5, 0; }
API int cudaDeviceSynchronize(void) { return done(cuCtxSynchronize()); }
API int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status) {
    cuGetProcAddress_v2(name, function, DRIVER_VERSION, flags, status);
    return 0; /* a function that isn't there is told by its status */
}
API int cudaHostGetFlags(unsigned *flags, void *address) { return *flags = 0, 0; }
NOTHING(cudaDeviceEnablePeerAccess)
NOTHING(cudaDeviceReset)
NOTHING(cudaDeviceSetSharedMemConfig)
NOTHING(cudaThreadExchangeStreamCaptureMode)

API int cudaMemGetInfo(size_t *available, size_t *total) {
    READY();
    return done(cuMemGetInfo_v2(available, total));
}
API int cudaMalloc(CUdeviceptr *address, size_t bytes) {
    READY();
    return done(cuMemAlloc_v2(address, bytes));
}
API int cudaMallocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    READY();
    return done(cuMemAllocManaged(address, bytes, flags));
}
API int cudaMallocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    READY();
    return done(cuMemAllocAsync(address, bytes, stream));
}
API int cudaFree(CUdeviceptr address) {
    READY(); /* cudaFree(0) is the customary way of starting the runtime */
    return done(cuMemFree_v2(address));
}
API int cudaFreeAsync(CUdeviceptr address, CUstream stream) { return done(cuMemFreeAsync(address, stream)); }
API int cudaHostAlloc(void **address, size_t bytes, unsigned flags) {
    return done(cuMemHostAlloc(address, bytes, flags));
}
API int cudaMallocHost(void **address, size_t bytes) { return done(cuMemHostAlloc(address, bytes, 0)); }
API int cudaFreeHost(void *address) { return done(cuMemFreeHost(address)); }
API int cudaHostRegister(void *address, size_t bytes, unsigned flags) {
    return done(cuMemHostRegister_v2(address, bytes, flags));
}
API int cudaHostUnregister(void *address) { return done(cuMemHostUnregister(address)); }

API int cudaMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes, int kind) { return cuMemcpy(to, from, bytes); }
API int cudaMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, int kind, CUstream stream) {
    return cuMemcpy(to, from, bytes);
}
API int cudaMemset(CUdeviceptr address, int value, size_t bytes) {
    return cuMemsetD8_v2(address, (unsigned char)value, bytes);
}
API int cudaMemsetAsync(CUdeviceptr address, int value, size_t bytes, CUstream stream) {
    return cuMemsetD8_v2(address, (unsigned char)value, bytes);
}
API int cudaMemset2DAsync(CUdeviceptr address, size_t pitch, int value, size_t width, size_t height, CUstream stream) {
    for (size_t row = 0; row < height; row++)
        memset((char *)address + row * pitch, value, width);
    return 0;
}

API int cudaStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    READY();
    return done(cuStreamCreateWithPriority(stream, flags, priority));
}
API int cudaStreamCreateWithFlags(CUstream *stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
API int cudaStreamCreate(CUstream *stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
API int cudaStreamSynchronize(CUstream stream) { return done(cuStreamSynchronize(stream)); }
API int cudaStreamAddCallback(CUstream stream, void (*call)(CUstream, CUresult, void *), void *data, unsigned flags) {
    return done(cuStreamAddCallback(stream, call, data, flags));
}
API int cudaStreamIsCapturing(CUstream stream, int *status) { return *status = 0, 0; }
API int cudaStreamGetCaptureInfo(CUstream stream, int *status, uint64_t *id) { return *status = 0, 0; }
API int cudaStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                    const CUgraphNode **dependencies, size_t *number) {
    return *status = 0, 0;
}
NOTHING(cudaStreamDestroy)
NOTHING(cudaStreamQuery)
NOTHING(cudaStreamWaitEvent)

API int cudaEventCreateWithFlags(CUevent *event, unsigned flags) { return done(cuEventCreate(event, flags)); }
API int cudaEventCreate(CUevent *event) { return done(cuEventCreate(event, 0)); }
API int cudaEventRecord(CUevent event, CUstream stream) { return done(cuEventRecord(event, stream)); }
API int cudaEventSynchronize(CUevent event) { return done(cuEventSynchronize(event)); }
API int cudaEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
    return done(cuEventElapsedTime(milliseconds, from, to));
}
API int cudaEventDestroy(CUevent event) { return done(cuEventDestroy_v2(event)); }
NOTHING(cudaEventQuery)

struct pointer_attributes {
    int type, device; /* type: 0 unregistered, 1 host, 2 device, 3 managed */
    const void *device_pointer, *host_pointer;
};

API int cudaPointerGetAttributes(struct pointer_attributes *attributes, const void *address) {
    unsigned type = 0;
    int managed = 0, device = 0;
    cuPointerGetAttribute(&type, 2, (CUdeviceptr)address);
    cuPointerGetAttribute(&managed, 8, (CUdeviceptr)address);
    cuPointerGetAttribute(&device, 9, (CUdeviceptr)address);
    *attributes = (struct pointer_attributes){managed ? 3 : (int)type, device, type ? address : NULL,
                                              type == 1 || managed || !type ? address : NULL};
    return 0;
}
