/* libcufft: plans need no workspace, transforms compute nothing. */
#include <stddef.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int make(int *plan) {
    static int plans;
    *plan = __atomic_add_fetch(&plans, 1, __ATOMIC_RELAXED);
    return 0;
}
API int cufftCreate(int *plan) { return make(plan); }
API int cufftPlan1d(int *plan, int nx, int type, int batch) { return make(plan); }
API int cufftPlan2d(int *plan, int nx, int ny, int type) { return make(plan); }
API int cufftPlan3d(int *plan, int nx, int ny, int nz, int type) { return make(plan); }
API int cufftPlanMany(int *plan, int rank, int *n, int *in, int in_stride, int in_distance, int *out, int out_stride,
                      int out_distance, int type, int batch) {
    return make(plan);
}
API int cufftMakePlan1d(int plan, int nx, int type, int batch, size_t *workspace) { return *workspace = 0, 0; }
API int cufftMakePlan2d(int plan, int nx, int ny, int type, size_t *workspace) { return *workspace = 0, 0; }
API int cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, size_t *workspace) { return *workspace = 0, 0; }
API int cufftMakePlanMany(int plan, int rank, int *n, int *in, int in_stride, int in_distance, int *out, int out_stride,
                          int out_distance, int type, int batch, size_t *workspace) {
    return *workspace = 0, 0;
}
API int cufftMakePlanMany64(int plan, int rank, long long *n, long long *in, long long in_stride,
                            long long in_distance, long long *out, long long out_stride, long long out_distance,
                            int type, long long batch, size_t *workspace) {
    return *workspace = 0, 0;
}
API int cufftGetVersion(int *version) { return *version = CUFFT_VERSION, 0; }
API int cufftGetProperty(int which, int *value) {
    *value = which == 0 ? CUFFT_VERSION / 1000 : which == 1 ? CUFFT_VERSION / 100 % 10 : 0;
    return 0;
}
NOTHING(cufftDestroy)
NOTHING(cufftSetAutoAllocation)
NOTHING(cufftSetStream)
NOTHING(cufftSetWorkArea)
NOTHING(cufftExecC2C)
NOTHING(cufftExecC2R)
NOTHING(cufftExecR2C)
NOTHING(cufftExecD2Z)
NOTHING(cufftExecZ2D)
NOTHING(cufftExecZ2Z)
