/* libcusolver: handles only. What it computes tells the program of success or failure, so it isn't pretended. */
#include <stdlib.h>

#include "sim.h"

API int cusolverDnCreate(void **handle) { return (*handle = calloc(1, 16)) ? 0 : 2; }
API int cusolverDnDestroy(void *handle) {
    free(handle);
    return 0;
}
API int cusolverGetProperty(int which, int *value) { return *value = which == 0 ? 11 : 0, 0; }
API int cusolverGetVersion(int *version) { return *version = 11000, 0; }
NOTHING(cusolverDnSetStream)
