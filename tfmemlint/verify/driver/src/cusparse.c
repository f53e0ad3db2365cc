/* libcusparse: handles only. */
#include <stdlib.h>

#include "sim.h"

API int cusparseCreate(void **handle) { return (*handle = calloc(1, 16)) ? 0 : 2; }
API int cusparseDestroy(void *handle) {
    free(handle);
    return 0;
}
API int cusparseGetProperty(int which, int *value) { return *value = which == 0 ? 12 : 0, 0; }
API const char *cusparseGetErrorString(int status) { return status ? "not simulated by tfmemlint's driver" : "success"; }
API const char *cusparseGetErrorName(int status) {
    return status ? "CUSPARSE_STATUS_NOT_SUPPORTED" : "CUSPARSE_STATUS_SUCCESS";
}
NOTHING(cusparseSetStream)
