/* libcuda: the stream-ordered allocator. A pool takes memory of its card, hands out pieces, and keeps what was given
 * back up to its release threshold; what is above that goes back to the card at the next synchronization. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda.h"
#include "sim.h"

#define PAGE ((size_t)2 * MIB)
#define GRAIN ((size_t)512)
#define MAX_POOLS 64

enum {
    RELEASE_THRESHOLD = 4,
    RESERVED_CURRENT = 5,
    RESERVED_HIGH = 6,
    USED_CURRENT = 7,
    USED_HIGH = 8,
};

struct pool {
    int live, device;
    uint64_t threshold;
    uint64_t reserved, reserved_high; /* bytes taken of the card */
    uint64_t used, used_high;         /* bytes handed out */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool pools[MAX_POOLS]; /* the first MAX_CARDS are the devices' own */

/* Give back to the card what isn't used, but keep `keep` bytes. Held: lock. */
static void trim(struct pool *pool, uint64_t keep) {
    uint64_t needed = (pool->used + PAGE - 1) / PAGE * PAGE;
    uint64_t stays = needed > keep ? needed : keep;
    if (pool->reserved <= stays)
        return;
    ledger_give(sim_cuda()->card_of[pool->device], pool->reserved - stays);
    pool->reserved = stays;
    sim_log("held %d %zu", pool->device, held_by(pool->device));
}

void pools_synchronize(void) {
    pthread_mutex_lock(&lock);
    for (int index = 0; index < MAX_POOLS; index++)
        if (pools[index].live && pools[index].reserved > pools[index].threshold)
            trim(&pools[index], pools[index].threshold);
    pthread_mutex_unlock(&lock);
}

void pools_trim_unused(int card) {
    pthread_mutex_lock(&lock);
    for (int index = 0; index < MAX_POOLS; index++)
        if (pools[index].live && sim_cuda()->card_of[pools[index].device] == card)
            trim(&pools[index], 0);
    pthread_mutex_unlock(&lock);
}

/* Make room for `bytes` more. Held: lock. */
static int grow(struct pool *pool, uint64_t bytes) {
    if (pool->used + bytes <= pool->reserved)
        return 1;
    uint64_t missing = (pool->used + bytes - pool->reserved + PAGE - 1) / PAGE * PAGE;
    if (!ledger_take(sim_cuda()->card_of[pool->device], missing))
        return 0;
    pool->reserved += missing;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return 1;
}

API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    (void)stream;
    if (sim_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!bytes || !pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > SIZE_MAX / 4)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t taken = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    pthread_mutex_lock(&lock);
    int fits = grow(pool, taken);
    if (!fits) { /* the pools of the card that hold something unused give it back first */
        pthread_mutex_unlock(&lock);
        pools_trim_unused(sim_cuda()->card_of[pool->device]);
        pthread_mutex_lock(&lock);
        fits = grow(pool, taken);
    }
    void *start = fits ? reserve(taken) : NULL;
    if (start) {
        pool->used += taken;
        if (pool->used > pool->used_high)
            pool->used_high = pool->used;
    }
    pthread_mutex_unlock(&lock);
    if (!start) {
        sim_log("refuse %d pool %zu %zu", pool->device, bytes, sim_free_bytes(sim_cuda()->card_of[pool->device]));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct region region = {(uintptr_t)start, bytes, taken, pool->device, POOL, pool};
    region_add(&region);
    *address = region.start;
    sim_log("take %d pool %zu %zu", pool->device, bytes, held_by(pool->device));
    return CUDA_SUCCESS;
}

CUresult pool_free(struct region *region) {
    struct pool *pool = region->pool;
    if (!region_remove(region->start, region))
        return CUDA_ERROR_INVALID_VALUE;
    munmap((void *)region->start, region->taken);
    pthread_mutex_lock(&lock);
    pool->used -= region->taken;
    pthread_mutex_unlock(&lock);
    sim_log("give %d pool %zu %zu", region->device, region->bytes, held_by(region->device));
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    if (device < 0 || device >= sim_cuda()->shown)
        return CUDA_ERROR_INVALID_DEVICE;
    pools[device].live = 1;
    pools[device].device = device;
    *pool = &pools[device];
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) { return cuDeviceGetDefaultMemPool(pool, device); }

API CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    struct context *context = context_current();
    CUmemoryPool pool = NULL;
    if (!context || cuDeviceGetDefaultMemPool(&pool, context->device))
        return CUDA_ERROR_INVALID_CONTEXT;
    return cuMemAllocFromPoolAsync(address, bytes, pool, stream);
}

/* The beginning of CUmemPoolProps: allocation type, handle types, and where the memory is to be. */
struct pool_properties {
    int allocation_type, handle_types, location_type, location_device;
};

API CUresult cuMemPoolCreate(CUmemoryPool *pool, const struct pool_properties *properties) {
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    for (int index = MAX_CARDS; index < MAX_POOLS && result; index++)
        if (!pools[index].live) {
            pools[index] = (struct pool){.live = 1, .device = properties->location_device};
            *pool = &pools[index];
            result = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    pthread_mutex_lock(&lock);
    trim(pool, 0);
    pool->live = 0;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    pthread_mutex_lock(&lock);
    trim(pool, keep);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, const void *value) {
    pthread_mutex_lock(&lock);
    if (attribute == RELEASE_THRESHOLD)
        pool->threshold = *(const uint64_t *)value;
    else if (attribute == RESERVED_HIGH) /* the only value that may be set is 0: start anew */
        pool->reserved_high = pool->reserved;
    else if (attribute == USED_HIGH)
        pool->used_high = pool->used;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS; /* 1 to 3: how freed pieces may be used again, which is always at once here */
}

API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
    const uint64_t values[] = {pool->threshold, pool->reserved, pool->reserved_high, pool->used, pool->used_high};
    if (attribute >= RELEASE_THRESHOLD && attribute <= USED_HIGH)
        *(uint64_t *)value = values[attribute - RELEASE_THRESHOLD];
    else
        *(int *)value = 1;
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const void *access, size_t number) {
    (void)pool, (void)access, (void)number;
    return CUDA_SUCCESS;
}
