/* libcublasLt: descriptors keep their attributes; one algorithm without a workspace serves every product. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define MAX_ATTRIBUTES 64
#define MAX_SIZE 64
#define INVALID 7 /* CUBLAS_STATUS_INVALID_VALUE */

struct descriptor {
    size_t size[MAX_ATTRIBUTES];
    unsigned char value[MAX_ATTRIBUTES][MAX_SIZE];
};

static int make(struct descriptor **descriptor) {
    *descriptor = calloc(1, sizeof **descriptor);
    return *descriptor ? 0 : 3;
}

static int put(struct descriptor *descriptor, unsigned attribute, const void *value, size_t size) {
    if (attribute >= MAX_ATTRIBUTES || size > MAX_SIZE)
        return INVALID;
    memcpy(descriptor->value[attribute], value, size);
    descriptor->size[attribute] = size;
    return 0;
}

/* What was never set reads as zero, the default of nearly all attributes. */
static int get(struct descriptor *descriptor, unsigned attribute, void *value, size_t size, size_t *written) {
    if (attribute >= MAX_ATTRIBUTES || size > MAX_SIZE)
        return INVALID;
    memcpy(value, descriptor->value[attribute], size);
    if (written)
        *written = descriptor->size[attribute] ? descriptor->size[attribute] : size;
    return 0;
}

static int discard(struct descriptor *descriptor) {
    free(descriptor);
    return 0;
}

API int cublasLtCreate(void **handle) { return (*handle = calloc(1, 16)) ? 0 : 3; }
API int cublasLtDestroy(void *handle) {
    free(handle);
    return 0;
}
API size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
API size_t cublasLtGetCudartVersion(void) { return CUDART_VERSION; }
API int cublasLtGetProperty(int which, int *value) {
    *value = which == 0 ? CUBLAS_VERSION / 10000 : which == 1 ? CUBLAS_VERSION / 100 % 100 : 0;
    return 0;
}

API int cublasLtMatmulDescCreate(struct descriptor **descriptor, int compute_type, int scale_type) {
    int result = make(descriptor);
    if (!result) {
        put(*descriptor, 0, &compute_type, sizeof compute_type);
        put(*descriptor, 1, &scale_type, sizeof scale_type);
    }
    return result;
}
API int cublasLtMatmulDescDestroy(struct descriptor *descriptor) { return discard(descriptor); }
API int cublasLtMatmulDescSetAttribute(struct descriptor *descriptor, unsigned attribute, const void *value,
                                       size_t size) {
    return put(descriptor, attribute, value, size);
}
API int cublasLtMatmulDescGetAttribute(struct descriptor *descriptor, unsigned attribute, void *value, size_t size,
                                       size_t *written) {
    return get(descriptor, attribute, value, size, written);
}

API int cublasLtMatrixLayoutCreate(struct descriptor **layout, int type, uint64_t rows, uint64_t columns,
                                   int64_t leading) {
    int result = make(layout), batches = 1;
    if (!result) {
        put(*layout, 0, &type, sizeof type);
        put(*layout, 2, &rows, sizeof rows);
        put(*layout, 3, &columns, sizeof columns);
        put(*layout, 4, &leading, sizeof leading);
        put(*layout, 5, &batches, sizeof batches);
    }
    return result;
}
API int cublasLtMatrixLayoutDestroy(struct descriptor *layout) { return discard(layout); }
API int cublasLtMatrixLayoutSetAttribute(struct descriptor *layout, unsigned attribute, const void *value,
                                         size_t size) {
    return put(layout, attribute, value, size);
}
API int cublasLtMatrixLayoutGetAttribute(struct descriptor *layout, unsigned attribute, void *value, size_t size,
                                         size_t *written) {
    return get(layout, attribute, value, size, written);
}

API int cublasLtMatmulPreferenceCreate(struct descriptor **preference) { return make(preference); }
API int cublasLtMatmulPreferenceDestroy(struct descriptor *preference) { return discard(preference); }
API int cublasLtMatmulPreferenceSetAttribute(struct descriptor *preference, unsigned attribute, const void *value,
                                             size_t size) {
    return put(preference, attribute, value, size);
}

struct heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

API int cublasLtMatmulAlgoGetHeuristic(void *handle, void *product, void *a, void *b, void *c, void *d,
                                       void *preference, int wanted, struct heuristic *results, int *found) {
    *found = wanted > 0;
    if (wanted > 0)
        *results = (struct heuristic){.waves = 1};
    return 0;
}
NOTHING(cublasLtMatmul)
