/* The part of the CUDA driver's interface that the stand-ins need, declared anew. */
#ifndef CUDA_H
#define CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uintptr_t CUdeviceptr;
typedef struct context *CUcontext;
typedef void *CUstream, *CUevent, *CUmodule, *CUfunction, *CUgraph, *CUgraphNode, *CUgraphExec;
typedef struct pool *CUmemoryPool;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_SUPPORTED = 801,
};

/* The driver's own version: new enough for every TensorFlow that is simulated. */
#define DRIVER_VERSION 12080

/* context.c */
struct context {
    int device; /* CUDA's number */
};
struct context *context_current(void); /* NULL: none on this thread */
struct context *context_primary(int device);
int current_card(void); /* -1: no context on this thread */

/* memory.c */
enum kind { DEVICE, MANAGED, POOL, HOST, REGISTERED, MAPPED, KINDS };
struct region {
    uintptr_t start;
    size_t bytes; /* as asked for */
    size_t taken; /* as rounded, and mapped here */
    int device;   /* CUDA's number; -1 for host memory */
    enum kind kind;
    struct pool *pool;
};
int region_find(uintptr_t address, struct region *found);
void region_add(const struct region *region);
int region_remove(uintptr_t start, struct region *removed);
void *reserve(size_t bytes); /* address space that costs nothing until it is written; NULL: none */
const char *kind_name(enum kind kind);
size_t held_by(int device); /* bytes of this process on CUDA's device, for the log */

/* pool.c */
CUresult pool_free(struct region *region);
void pools_trim_unused(int card);
void pools_synchronize(void);

#endif
