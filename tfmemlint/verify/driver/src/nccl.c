/* libnccl: the exchange between GPUs. Every GPU keeps its own part: what it sends is what it receives. Only releases
 * that open the library at run time find it; older ones bring their own, which needs a real GPU. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct communicator {
    int count, rank, device;
};
struct identifier {
    char bytes[128];
};

int cuCtxGetDevice(int *);

API int ncclGetVersion(int *version) { return *version = 22500, 0; }
API int ncclGetUniqueId(struct identifier *identifier) { return memset(identifier, 1, sizeof *identifier), 0; }
API const char *ncclGetErrorString(int error) { return error ? "not simulated by tfmemlint's driver" : "no error"; }
API const char *ncclGetLastError(void *communicator) { return ""; }

API int ncclCommInitRank(struct communicator **made, int count, struct identifier identifier, int rank) {
    *made = calloc(1, sizeof **made);
    if (!*made)
        return 2; /* ncclSystemError */
    **made = (struct communicator){.count = count, .rank = rank};
    cuCtxGetDevice(&(*made)->device);
    return 0;
}
API int ncclCommInitRankConfig(struct communicator **made, int count, struct identifier identifier, int rank,
                               void *config) {
    return ncclCommInitRank(made, count, identifier, rank);
}
API int ncclCommInitAll(struct communicator **made, int count, const int *devices) {
    struct identifier identifier = {{0}};
    for (int rank = 0; rank < count; rank++) {
        if (ncclCommInitRank(&made[rank], count, identifier, rank))
            return 2;
        made[rank]->device = devices ? devices[rank] : rank;
    }
    return 0;
}
API int ncclCommSplit(struct communicator *from, int color, int key, struct communicator **made, void *config) {
    struct identifier identifier = {{0}};
    return ncclCommInitRank(made, from->count, identifier, key);
}
API int ncclCommDestroy(struct communicator *communicator) { return free(communicator), 0; }
API int ncclCommAbort(struct communicator *communicator) { return free(communicator), 0; }
API int ncclCommCount(struct communicator *communicator, int *count) { return *count = communicator->count, 0; }
API int ncclCommUserRank(struct communicator *communicator, int *rank) { return *rank = communicator->rank, 0; }
API int ncclCommCuDevice(struct communicator *communicator, int *device) { return *device = communicator->device, 0; }
API int ncclCommGetAsyncError(struct communicator *communicator, int *error) { return *error = 0, 0; }
NOTHING(ncclCommFinalize)
NOTHING(ncclGroupStart)
NOTHING(ncclGroupEnd)

/* By number: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, two of 8 bits. */
static size_t bytes_of(size_t number, int type) {
    static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && type < 12 ? number * sizes[type] : 0;
}

static int keep(const void *from, void *to, size_t bytes) {
    if (from && to && from != to)
        memmove(to, from, bytes);
    return 0;
}

API int ncclAllReduce(const void *from, void *to, size_t number, int type, int operation, void *communicator,
                      void *stream) {
    return keep(from, to, bytes_of(number, type));
}
API int ncclReduce(const void *from, void *to, size_t number, int type, int operation, int root, void *communicator,
                   void *stream) {
    return keep(from, to, bytes_of(number, type));
}
API int ncclBroadcast(const void *from, void *to, size_t number, int type, int root, void *communicator,
                      void *stream) {
    return keep(from, to, bytes_of(number, type));
}
API int ncclAllGather(const void *from, void *to, size_t number, int type, struct communicator *communicator,
                      void *stream) {
    size_t bytes = bytes_of(number, type);
    return keep(from, (char *)to + (size_t)communicator->rank * bytes, bytes);
}
API int ncclReduceScatter(const void *from, void *to, size_t number, int type, int operation,
                          struct communicator *communicator, void *stream) {
    size_t bytes = bytes_of(number, type);
    return keep((const char *)from + (size_t)communicator->rank * bytes, to, bytes);
}
NOTHING(ncclBcast)
NOTHING(ncclSend)
NOTHING(ncclRecv)
NOTHING(ncclRedOpDestroy)
