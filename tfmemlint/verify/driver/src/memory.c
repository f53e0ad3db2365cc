/* libcuda: memory. A region is reserved address space of the process and costs nothing until it is written to. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda.h"
#include "sim.h"

#define PAGE ((size_t)2 * MIB) /* large regions come in pages of this size */
#define GRAIN ((size_t)512)    /* small ones in multiples of this */

/* All regions, sorted by address: pointers into the middle of one are looked up too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static size_t count, room;

const char *kind_name(enum kind kind) {
    static const char *const names[KINDS] = {"device", "managed", "pool", "host", "registered", "mapped"};
    return names[kind];
}

size_t held_by(int device) { return ledger_held(sim_cuda()->card_of[device]); }

/* How many regions start at or before an address. */
static size_t upto(uintptr_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (regions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int region_find(uintptr_t address, struct region *found) {
    pthread_mutex_lock(&lock);
    size_t at = upto(address);
    int is_in = at && address - regions[at - 1].start < regions[at - 1].taken;
    if (is_in)
        *found = regions[at - 1];
    pthread_mutex_unlock(&lock);
    return is_in;
}

void region_add(const struct region *region) {
    pthread_mutex_lock(&lock);
    if (count == room) {
        room = room ? room * 2 : 256;
        regions = realloc(regions, room * sizeof *regions);
        if (!regions)
            abort();
    }
    size_t at = upto(region->start);
    memmove(regions + at + 1, regions + at, (count - at) * sizeof *regions);
    regions[at] = *region;
    count++;
    pthread_mutex_unlock(&lock);
}

int region_remove(uintptr_t start, struct region *removed) {
    pthread_mutex_lock(&lock);
    size_t at = upto(start);
    int is_there = at && regions[at - 1].start == start;
    if (is_there) {
        *removed = regions[at - 1];
        memmove(regions + at - 1, regions + at, (count - at) * sizeof *regions);
        count--;
    }
    pthread_mutex_unlock(&lock);
    return is_there;
}

void *reserve(size_t bytes) {
    char *start =
        mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    /* Aligned as a card's memory is. */
    char *aligned = (char *)(((uintptr_t)start + PAGE - 1) & ~(PAGE - 1));
    if (aligned > start)
        munmap(start, (size_t)(aligned - start));
    char *end = aligned + ((bytes + 4095) & ~(size_t)4095);
    if (end < start + bytes + PAGE)
        munmap(end, (size_t)(start + bytes + PAGE - end));
    return aligned;
}

static CUresult allocate(CUdeviceptr *address, size_t bytes, enum kind kind) {
    int device = kind == HOST ? -1 : 0;
    if (kind != HOST) {
        struct context *context = context_current();
        if (sim_forked() || !context)
            return context ? CUDA_ERROR_NOT_INITIALIZED : CUDA_ERROR_INVALID_CONTEXT;
        device = context->device;
    }
    if (!bytes || bytes > SIZE_MAX / 4)
        return bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    size_t grain = bytes < PAGE ? GRAIN : PAGE;
    size_t taken = (bytes + grain - 1) / grain * grain;
    /* Managed memory may live in the host's memory: no card refuses it. */
    int counts = kind == DEVICE;
    int card = device < 0 ? -1 : sim_cuda()->card_of[device];
    if (counts && !ledger_take(card, taken)) {
        pools_trim_unused(card);
        if (!ledger_take(card, taken)) {
            sim_log("refuse %d %s %zu %zu", device, kind_name(kind), bytes, sim_free_bytes(card));
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    void *start = reserve(taken);
    if (!start) {
        if (counts)
            ledger_give(card, taken);
        sim_log("refuse %d %s %zu host", device, kind_name(kind), bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct region region = {(uintptr_t)start, bytes, taken, device, kind, NULL};
    region_add(&region);
    *address = region.start;
    sim_log("take %d %s %zu %zu", device, kind_name(kind), bytes, device < 0 ? 0 : held_by(device));
    return CUDA_SUCCESS;
}

static CUresult release(CUdeviceptr address) {
    struct region region;
    if (!address)
        return CUDA_SUCCESS;
    if (!region_find(address, &region) || region.start != address)
        return CUDA_ERROR_INVALID_VALUE;
    if (region.kind == POOL)
        return pool_free(&region);
    if (region.kind == REGISTERED || region.kind == MAPPED || !region_remove(address, &region))
        return CUDA_ERROR_INVALID_VALUE;
    munmap((void *)region.start, region.taken);
    if (region.kind == DEVICE)
        ledger_give(sim_cuda()->card_of[region.device], region.taken);
    sim_log("give %d %s %zu %zu", region.device, kind_name(region.kind), region.bytes,
            region.device < 0 ? 0 : held_by(region.device));
    return CUDA_SUCCESS;
}

API CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
    int card = current_card();
    if (card < 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *available = sim_free_bytes(card);
    *total = sim_cuda()->card[card].total;
    return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) { return allocate(address, bytes, DEVICE); }

API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    (void)flags;
    return allocate(address, bytes, MANAGED);
}

API CUresult cuMemFree_v2(CUdeviceptr address) { return release(address); }
API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    (void)stream;
    return release(address);
}

API CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
    (void)flags;
    return allocate((CUdeviceptr *)address, bytes, HOST);
}
API CUresult cuMemAllocHost_v2(void **address, size_t bytes) { return cuMemHostAlloc(address, bytes, 0); }
API CUresult cuMemFreeHost(void *address) { return release((CUdeviceptr)address); }

API CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
    (void)flags;
    struct region region = {(uintptr_t)address, bytes, bytes, -1, REGISTERED, NULL};
    region_add(&region);
    return CUDA_SUCCESS;
}

API CUresult cuMemHostUnregister(void *address) {
    struct region region;
    return region_remove((uintptr_t)address, &region) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned flags) {
    (void)flags;
    *device = (CUdeviceptr)host; /* one address space */
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAddressRange_v2(CUdeviceptr *start, size_t *bytes, CUdeviceptr address) {
    struct region region;
    if (!region_find(address, &region))
        return CUDA_ERROR_NOT_FOUND;
    if (start)
        *start = region.start;
    if (bytes)
        *bytes = region.bytes;
    return CUDA_SUCCESS;
}

API CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address) {
    struct region region;
    if (!region_find(address, &region))
        return CUDA_ERROR_INVALID_VALUE;
    int on_host = region.kind == HOST || region.kind == REGISTERED;
    int device = region.device < 0 ? 0 : region.device;
    switch (attribute) {
    case 1: /* context */
        *(CUcontext *)value = context_primary(device);
        return CUDA_SUCCESS;
    case 2: /* memory type: 1 is the host's, 2 the device's */
        *(unsigned *)value = on_host ? 1 : 2;
        return CUDA_SUCCESS;
    case 3: /* device pointer */
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case 4: /* host pointer */
        *(void **)value = (void *)address;
        return on_host || region.kind == MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case 8: /* is managed */
        *(int *)value = region.kind == MANAGED;
        return CUDA_SUCCESS;
    case 9: /* device */
        *(int *)value = device;
        return CUDA_SUCCESS;
    case 11: /* start of the range */
        *(CUdeviceptr *)value = region.start;
        return CUDA_SUCCESS;
    case 12: /* its size */
        *(size_t *)value = region.bytes;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

API CUresult cuPointerGetAttributes(unsigned number, int *attributes, void **values, CUdeviceptr address) {
    for (unsigned index = 0; index < number; index++)
        cuPointerGetAttribute(values[index], attributes[index], address); /* unknown ones stay as they are */
    return CUDA_SUCCESS;
}
