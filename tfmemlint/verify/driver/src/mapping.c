/* libcuda: virtual memory management. Addresses are reserved first and given memory of a card later. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda.h"
#include "sim.h"

#define PAGE ((size_t)2 * MIB)

/* Memory of a card without an address. It goes back when it is neither held nor mapped. */
struct block {
    size_t bytes;
    int device, users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The beginning of CUmemAllocationProp. */
struct allocation_properties {
    int type, handle_types, location_type, location_device;
};

static void drop(struct block *block) {
    pthread_mutex_lock(&lock);
    int users = --block->users;
    pthread_mutex_unlock(&lock);
    if (users)
        return;
    ledger_give(sim_cuda()->card_of[block->device], block->bytes);
    sim_log("give %d mapped %zu %zu", block->device, block->bytes, held_by(block->device));
    free(block);
}

API CUresult cuMemGetAllocationGranularity(size_t *bytes, const void *properties, int option) {
    (void)properties, (void)option;
    *bytes = PAGE;
    return CUDA_SUCCESS;
}

API CUresult cuMemCreate(struct block **handle, size_t bytes, const struct allocation_properties *properties,
                         uint64_t flags) {
    (void)flags;
    int device = properties->location_device;
    if (device < 0 || device >= sim_cuda()->shown)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!bytes || bytes % PAGE)
        return CUDA_ERROR_INVALID_VALUE;
    int card = sim_cuda()->card_of[device];
    if (!ledger_take(card, bytes)) {
        sim_log("refuse %d mapped %zu %zu", device, bytes, sim_free_bytes(card));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct block *block = malloc(sizeof *block);
    if (!block)
        abort();
    *block = (struct block){bytes, device, 1};
    *handle = block;
    sim_log("take %d mapped %zu %zu", device, bytes, held_by(device));
    return CUDA_SUCCESS;
}

API CUresult cuMemRelease(struct block *block) {
    drop(block);
    return CUDA_SUCCESS;
}

API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                 uint64_t flags) {
    (void)alignment, (void)wanted, (void)flags;
    void *start = bytes ? reserve(bytes) : NULL;
    if (!start)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mprotect(start, bytes, PROT_NONE);
    *address = (CUdeviceptr)start;
    return CUDA_SUCCESS;
}

API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    munmap((void *)address, bytes);
    return CUDA_SUCCESS;
}

API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, struct block *block, uint64_t flags) {
    (void)offset, (void)flags;
    pthread_mutex_lock(&lock);
    block->users++;
    pthread_mutex_unlock(&lock);
    /* The region's `pool` is its block: both say where the memory goes back to. */
    struct region region = {address, bytes, bytes, block->device, MAPPED, (struct pool *)block};
    region_add(&region);
    mprotect((void *)address, bytes, PROT_READ | PROT_WRITE);
    return CUDA_SUCCESS;
}

API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    struct region region;
    if (!region_remove(address, &region))
        return CUDA_ERROR_INVALID_VALUE;
    madvise((void *)address, bytes, MADV_DONTNEED);
    mprotect((void *)address, bytes, PROT_NONE);
    drop((struct block *)region.pool);
    return CUDA_SUCCESS;
}

API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const void *access, size_t number) {
    (void)address, (void)bytes, (void)access, (void)number;
    return CUDA_SUCCESS;
}

API CUresult cuMemRetainAllocationHandle(struct block **handle, void *address) {
    struct region region;
    if (!region_find((uintptr_t)address, &region) || region.kind != MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    *handle = (struct block *)region.pool;
    pthread_mutex_lock(&lock);
    (*handle)->users++;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}
