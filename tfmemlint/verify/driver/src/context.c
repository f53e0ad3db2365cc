/* libcuda: contexts. Every device has its primary context and no other. */
#include <string.h>

#include "cuda.h"
#include "sim.h"

#define DEPTH 64

static struct context primary[MAX_CARDS];
static int retained[MAX_CARDS];
static __thread struct context *stack[DEPTH];
static __thread int depth;

struct context *context_current(void) { return depth ? stack[depth - 1] : NULL; }

struct context *context_primary(int device) { return &primary[device]; }

int current_card(void) {
    struct context *context = context_current();
    return context ? sim_cuda()->card_of[context->device] : -1;
}

static int valid(CUdevice device) { return device >= 0 && device < sim_cuda()->shown; }

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    if (sim_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!valid(device))
        return CUDA_ERROR_INVALID_DEVICE;
    const struct machine *machine = sim_cuda();
    int card = machine->card_of[device];
    primary[device].device = device;
    if (!__atomic_exchange_n(&retained[device], 1, __ATOMIC_ACQ_REL)) {
        if (machine->context && !ledger_take(card, machine->context)) {
            retained[device] = 0;
            sim_log("refuse %d context %zu %zu", device, machine->context, held_by(device));
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        ledger_context(card);
        sim_log("context %d %zu", device, held_by(device));
    }
    *context = &primary[device];
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    if (!valid(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = retained[device];
    return CUDA_SUCCESS;
}

/* The context stays until the process ends, like the memory that TensorFlow holds in it. */
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return valid(device) ? 0 : CUDA_ERROR_INVALID_DEVICE; }
API CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    (void)flags;
    return valid(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

API CUresult cuCtxSetCurrent(CUcontext context) {
    if (!context && !depth)
        return CUDA_SUCCESS;
    if (!depth)
        depth = 1;
    if (context)
        stack[depth - 1] = context;
    else
        depth--;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = context_current();
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent_v2(CUcontext context) {
    if (!context || depth == DEPTH)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth];
    return CUDA_SUCCESS;
}

API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    (void)flags;
    CUresult result = cuDevicePrimaryCtxRetain(context, device);
    return result ? result : cuCtxPushCurrent_v2(*context);
}

API CUresult cuCtxDestroy_v2(CUcontext context) {
    if (context && context_current() == context)
        depth--;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice *device) {
    struct context *context = context_current();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void) {
    pools_synchronize();
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    (void)context;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetFlags(unsigned *flags) {
    *flags = 0;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetLimit(int limit, size_t value) {
    (void)limit, (void)value;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetLimit(size_t *value, int limit) {
    (void)limit;
    *value = 1024;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    struct context *asked = context ? context : context_current();
    *id = asked ? (unsigned long long)asked->device + 1 : 0;
    return asked ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    (void)peer, (void)flags;
    return CUDA_SUCCESS;
}
