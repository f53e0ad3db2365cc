/* libcudart: cudaGetDeviceProperties. The fields up to where CUDA 11 and 12 agree; what follows is zero. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "sim.h"

/* The sizes of the whole structure. */
#define SIZE_11 728
#define SIZE_12 1032

struct properties {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t total, shared_per_block;
    int registers_per_block, warp;
    size_t max_pitch;
    int max_threads, max_block[3], max_grid[3], clock_khz;
    size_t constant_memory;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int overlap, multiprocessors, timeout, integrated, can_map_host, compute_mode;
    int textures[26], surfaces[14];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, copy_engines, unified_addressing;
    int memory_clock_khz, memory_bus_bits, l2_cache, persisting_l2, threads_per_multiprocessor, priorities;
    int global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed, multi_gpu_board, board_group, native_atomics, double_ratio;
    int pageable_access, concurrent_managed, preemption, host_pointer, cooperative, cooperative_multi;
    size_t shared_per_block_optin;
    int host_page_tables, direct_managed, blocks_per_multiprocessor, access_policy;
    size_t reserved_shared;
};

/* The places that matter most, as the interface has them. */
_Static_assert(offsetof(struct properties, total) == 288, "total memory");
_Static_assert(offsetof(struct properties, major) == 360, "compute capability");
_Static_assert(offsetof(struct properties, multiprocessors) == 388, "multiprocessors");
_Static_assert(offsetof(struct properties, surface_alignment) == 568, "surfaces");
_Static_assert(offsetof(struct properties, shared_per_multiprocessor) == 640, "shared memory");
_Static_assert(offsetof(struct properties, shared_per_block_optin) == 696, "opt-in");
_Static_assert(sizeof(struct properties) == SIZE_11, "the whole");

static int fill(void *target, size_t size, int device) {
    const struct machine *machine = sim_cuda();
    if (device < 0 || device >= machine->shown)
        return CUDA_ERROR_INVALID_DEVICE;
    const struct card *card = &machine->card[machine->card_of[device]];
    struct properties properties = {
        .total = card->total,
        .major = card->major,
        .minor = card->minor,
        .shared_per_block = 49152,
        .registers_per_block = 65536,
        .warp = 32,
        .max_pitch = 2147483647,
        .max_threads = 1024,
        .max_block = {1024, 1024, 64},
        .max_grid = {2147483647, 65535, 65535},
        .clock_khz = 1980000,
        .constant_memory = 65536,
        .texture_alignment = 512,
        .texture_pitch_alignment = 32,
        .overlap = 1,
        .multiprocessors = 132,
        .can_map_host = 1,
        .surface_alignment = 512,
        .concurrent_kernels = 1,
        .pci_bus = machine->card_of[device] + 1,
        .copy_engines = 3,
        .unified_addressing = 1,
        .memory_clock_khz = 3201000,
        .memory_bus_bits = 6144,
        .l2_cache = 60 << 20,
        .threads_per_multiprocessor = 2048,
        .priorities = 1,
        .global_l1 = 1,
        .local_l1 = 1,
        .shared_per_multiprocessor = 233472,
        .registers_per_multiprocessor = 65536,
        .managed = 1,
        .concurrent_managed = 1,
        .cooperative = 1,
        .shared_per_block_optin = 232448,
        .blocks_per_multiprocessor = 32,
    };
    snprintf(properties.name, sizeof properties.name, "%s", card->name);
    memcpy(properties.uuid, card->uuid_bytes, sizeof properties.uuid);
    memset(target, 0, size);
    memcpy(target, &properties, sizeof properties);
    return 0;
}

API int cudaGetDeviceProperties_v2(void *target, int device) { return fill(target, SIZE_12, device); }
/* CUDA 12 keeps this name for programs made for CUDA 11. */
API int cudaGetDeviceProperties(void *target, int device) { return fill(target, SIZE_11, device); }
