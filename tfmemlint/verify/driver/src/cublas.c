/* libcublas: matrix products and the like compute nothing. What gives back pivots or an "info" is not simulated: the
 * program would act on what was never computed. */
#include <stdlib.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A handle keeps the settings that can be asked for. */
struct handle {
    void *stream;
    int math_mode, pointer_mode;
};

API int cublasCreate_v2(struct handle **handle) {
    *handle = calloc(1, sizeof **handle);
    return *handle ? 0 : 3; /* CUBLAS_STATUS_ALLOC_FAILED */
}
API int cublasDestroy_v2(struct handle *handle) {
    free(handle);
    return 0;
}
API int cublasGetVersion_v2(struct handle *handle, int *version) { return *version = CUBLAS_VERSION, 0; }
API int cublasGetProperty(int which, int *value) {
    /* 0 is the major number, 1 the minor one, 2 the patch's. */
    *value = which == 0 ? CUBLAS_VERSION / 10000 : which == 1 ? CUBLAS_VERSION / 100 % 100 : 0;
    return 0;
}
API const char *cublasGetStatusString(int status) { return status ? "not simulated by tfmemlint's driver" : "success"; }
API const char *cublasGetStatusName(int status) {
    return status ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_SUCCESS";
}

API int cublasSetStream_v2(struct handle *handle, void *stream) { return handle->stream = stream, 0; }
API int cublasGetStream_v2(struct handle *handle, void **stream) { return *stream = handle->stream, 0; }
API int cublasSetMathMode(struct handle *handle, int mode) { return handle->math_mode = mode, 0; }
API int cublasGetMathMode(struct handle *handle, int *mode) { return *mode = handle->math_mode, 0; }
API int cublasSetPointerMode_v2(struct handle *handle, int mode) { return handle->pointer_mode = mode, 0; }
API int cublasGetPointerMode_v2(struct handle *handle, int *mode) { return *mode = handle->pointer_mode, 0; }
NOTHING(cublasSetWorkspace_v2)
NOTHING(cublasSetAtomicsMode)

NOTHING(cublasCgeam)
NOTHING(cublasCgemmBatched)
NOTHING(cublasCgemmEx_64)
NOTHING(cublasCgemmStridedBatched)
NOTHING(cublasCgemm_v2)
NOTHING(cublasCgemv_v2)
NOTHING(cublasCscal_v2)
NOTHING(cublasCsscal_v2)
NOTHING(cublasCtrsmBatched)
NOTHING(cublasCtrsm_v2)
NOTHING(cublasCtrsv_v2)
NOTHING(cublasDgeam)
NOTHING(cublasDgemmBatched)
NOTHING(cublasDgemmStridedBatched)
NOTHING(cublasDgemm_v2)
NOTHING(cublasDgemv_v2)
NOTHING(cublasDscal_v2)
NOTHING(cublasDtrsmBatched)
NOTHING(cublasDtrsm_v2)
NOTHING(cublasDtrsv_v2)
NOTHING(cublasGemmBatchedEx)
NOTHING(cublasGemmEx)
NOTHING(cublasGemmStridedBatchedEx)
NOTHING(cublasSgeam)
NOTHING(cublasSgemmBatched)
NOTHING(cublasSgemmEx)
NOTHING(cublasSgemmStridedBatched)
NOTHING(cublasSgemm_v2)
NOTHING(cublasSgemv_v2)
NOTHING(cublasSscal_v2)
NOTHING(cublasStrsmBatched)
NOTHING(cublasStrsm_v2)
NOTHING(cublasStrsv_v2)
NOTHING(cublasZdscal_v2)
NOTHING(cublasZgeam)
NOTHING(cublasZgemmBatched)
NOTHING(cublasZgemmStridedBatched)
NOTHING(cublasZgemm_v2)
NOTHING(cublasZgemv_v2)
NOTHING(cublasZscal_v2)
NOTHING(cublasZtrsmBatched)
NOTHING(cublasZtrsm_v2)
NOTHING(cublasZtrsv_v2)
