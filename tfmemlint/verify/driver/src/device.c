/* libcuda: start, devices and what they can do, errors, and the look-up of the driver's own functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "sim.h"

static const struct card *card_of(CUdevice device) {
    const struct machine *machine = sim_cuda();
    return device >= 0 && device < machine->shown ? &machine->card[machine->card_of[device]] : NULL;
}

API CUresult cuInit(unsigned flags) {
    (void)flags;
    const struct machine *machine = sim_cuda();
    if (sim_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    return machine->shown ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

API CUresult cuDriverGetVersion(int *version) {
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int *count) {
    *count = sim_cuda()->shown;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    if (!card_of(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    const struct card *card = card_of(device);
    if (!card)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "%s", card->name);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    const struct card *card = card_of(device);
    if (!card)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = card->total;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(void *uuid, CUdevice device) {
    const struct card *card = card_of(device);
    if (!card)
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(uuid, card->uuid_bytes, sizeof card->uuid_bytes);
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetUuid(void *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

API CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice device) {
    if (!card_of(device))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_pci_bus_id(sim_cuda()->card_of[device], text, (size_t)size);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
    const struct machine *machine = sim_cuda();
    int card = sim_card_by_pci_bus_id(text);
    for (int index = 0; index < machine->shown; index++)
        if (card >= 0 && machine->card_of[index] == card) {
            *device = index;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}

API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    const struct card *card = card_of(device);
    if (!card)
        return CUDA_ERROR_INVALID_DEVICE;
    *major = card->major;
    *minor = card->minor;
    return CUDA_SUCCESS;
}

/* Attributes by their number in the interface; those of a large data-centre card, the same for every card. */
static const struct {
    int attribute, value;
} attributes[] = {
    {1, 1024},       /* max threads per block */
    {2, 1024},       /* max block dimension x */
    {3, 1024},       /* max block dimension y */
    {4, 64},         /* max block dimension z */
    {5, 2147483647}, /* max grid dimension x */
    {6, 65535},      /* max grid dimension y */
    {7, 65535},      /* max grid dimension z */
    {8, 49152},      /* max shared memory per block */
    {9, 65536},      /* constant memory */
    {10, 32},        /* warp size */
    {11, 2147483647}, /* max pitch */
    {12, 65536},     /* registers per block */
    {13, 1980000},   /* clock rate, kHz */
    {14, 512},       /* texture alignment */
    {15, 1},         /* copies overlap kernels */
    {16, 132},       /* multiprocessors */
    {19, 1},         /* can map host memory */
    {31, 1},         /* concurrent kernels */
    {36, 3201000},   /* memory clock rate, kHz */
    {37, 6144},      /* memory bus width */
    {38, 60 << 20},  /* L2 cache */
    {39, 2048},      /* threads per multiprocessor */
    {40, 3},         /* copy engines */
    {41, 1},         /* unified addressing */
    {78, 1},         /* stream priorities */
    {79, 1},         /* global L1 cache */
    {80, 1},         /* local L1 cache */
    {81, 233472},    /* shared memory per multiprocessor */
    {82, 65536},     /* registers per multiprocessor */
    {83, 1},         /* managed memory */
    {89, 1},         /* concurrent managed access */
    {95, 1},         /* cooperative launch */
    {97, 232448},    /* max shared memory per block, opt-in */
    {102, 1},        /* virtual memory management */
    {106, 32},       /* blocks per multiprocessor */
    {115, 1},        /* memory pools */
};

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    const struct card *card = card_of(device);
    if (!card)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = 0; /* what isn't listed, the device doesn't have */
    if (attribute == 33) /* PCI bus */
        *value = sim_cuda()->card_of[device] + 1;
    else if (attribute == 75)
        *value = card->major;
    else if (attribute == 76)
        *value = card->minor;
    for (size_t index = 0; index < sizeof attributes / sizeof *attributes; index++)
        if (attributes[index].attribute == attribute)
            *value = attributes[index].value;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to) {
    (void)attribute;
    *value = from != to;
    return card_of(from) && card_of(to) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    *can = device != peer;
    return card_of(device) && card_of(peer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "not simulated by tfmemlint's driver"},
};

static CUresult error_text(CUresult error, const char **text, int want_name) {
    for (size_t index = 0; index < sizeof errors / sizeof *errors; index++)
        if (errors[index].code == error) {
            *text = want_name ? errors[index].name : errors[index].text;
            return CUDA_SUCCESS;
        }
    *text = "unknown error";
    return CUDA_ERROR_INVALID_VALUE;
}
API CUresult cuGetErrorName(CUresult error, const char **name) { return error_text(error, name, 1); }
API CUresult cuGetErrorString(CUresult error, const char **text) { return error_text(error, text, 0); }

API CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    (void)version, (void)flags;
    static void *self;
    Dl_info where;
    if (!self && dladdr((void *)sim_machine, &where))
        self = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    static const char *const suffixes[] = {"_v2", ""};
    *function = NULL;
    for (int index = 0; index < 2 && !*function; index++) {
        char full[128];
        snprintf(full, sizeof full, "%s%s", name, suffixes[index]);
        *function = self ? dlsym(self, full) : NULL;
    }
    if (status)
        *status = *function ? 0 : 1;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
API CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
