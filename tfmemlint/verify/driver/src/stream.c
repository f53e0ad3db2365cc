/* libcuda: streams and events. All work is done when it is asked for, so everything is complete at once. */
#include <stdlib.h>
#include <time.h>

#include "cuda.h"
#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct stream {
    int device, priority;
};

API CUresult cuStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority) {
    struct context *context = context_current();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *stream = malloc(sizeof **stream);
    if (!*stream)
        abort();
    **stream = (struct stream){context->device, priority};
    return CUDA_SUCCESS;
}
API CUresult cuStreamCreate(struct stream **stream, unsigned flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}

/* Not freed: a stream may be named after it was destroyed while TensorFlow ends. They are few. */
API CUresult cuStreamDestroy_v2(CUstream stream) { return CUDA_SUCCESS; }

API CUresult cuStreamSynchronize(CUstream stream) {
    pools_synchronize();
    return CUDA_SUCCESS;
}

API CUresult cuStreamQuery(CUstream stream) { return CUDA_SUCCESS; }
API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) { return CUDA_SUCCESS; }

API CUresult cuStreamGetPriority(struct stream *stream, int *priority) {
    *priority = stream ? stream->priority : 0;
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    *flags = 1; /* not blocking */
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetCtx(struct stream *stream, CUcontext *context) {
    *context = (uintptr_t)stream > 2 ? context_primary(stream->device) : context_current();
    return CUDA_SUCCESS;
}

API CUresult cuStreamIsCapturing(CUstream stream, int *status) {
    *status = 0;
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                       const CUgraphNode **dependencies, size_t *number) {
    *status = 0;
    return CUDA_SUCCESS;
}

API CUresult cuThreadExchangeStreamCaptureMode(int *mode) { return CUDA_SUCCESS; }

API CUresult cuStreamAddCallback(CUstream stream, void (*call)(CUstream, CUresult, void *), void *data,
                                 unsigned flags) {
    call(stream, CUDA_SUCCESS, data);
    return CUDA_SUCCESS;
}

API CUresult cuLaunchHostFunc(CUstream stream, void (*call)(void *), void *data) {
    call(data);
    return CUDA_SUCCESS;
}

API CUresult cuEventCreate(struct timespec **event, unsigned flags) {
    *event = calloc(1, sizeof **event);
    if (!*event)
        abort();
    return CUDA_SUCCESS;
}

API CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    return CUDA_SUCCESS;
}

API CUresult cuEventRecord(struct timespec *event, CUstream stream) {
    clock_gettime(CLOCK_MONOTONIC, event);
    return CUDA_SUCCESS;
}
API CUresult cuEventRecordWithFlags(struct timespec *event, CUstream stream, unsigned flags) {
    return cuEventRecord(event, stream);
}

API CUresult cuEventQuery(CUevent event) { return CUDA_SUCCESS; }

API CUresult cuEventSynchronize(CUevent event) {
    pools_synchronize();
    return CUDA_SUCCESS;
}

API CUresult cuEventElapsedTime(float *milliseconds, struct timespec *from, struct timespec *to) {
    double passed = (double)(to->tv_sec - from->tv_sec) * 1e3 + (double)(to->tv_nsec - from->tv_nsec) / 1e6;
    *milliseconds = passed > 0.001 ? (float)passed : 0.001f; /* never 0: it is divided by */
    return CUDA_SUCCESS;
}
