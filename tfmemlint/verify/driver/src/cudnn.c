/* libcudnn: descriptors are accepted, layers compute nothing, no workspace is asked for. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

API int cudnnCreate(void **handle) { return (*handle = calloc(1, 64)) ? 0 : 2; }
API int cudnnDestroy(void *handle) {
    free(handle);
    return 0;
}
API int cudnnSetStream(void **handle, void *stream) { return *handle = stream, 0; }
API int cudnnGetStream(void **handle, void **stream) { return *stream = *handle, 0; }
API size_t cudnnGetVersion(void) { return CUDNN_VERSION; }
API size_t cudnnGetMaxDeviceVersion(void) { return CUDNN_VERSION; }
API size_t cudnnGetCudartVersion(void) { return CUDART_VERSION; }
/* 8.9.2 is 8902, 9.1.0 is 90100. */
#define THOUSAND (CUDNN_VERSION >= 90000 ? 10000 : 1000)
API int cudnnGetProperty(int which, int *value) {
    *value = which == 0 ? CUDNN_VERSION / THOUSAND : which == 1 ? CUDNN_VERSION % THOUSAND / 100 : CUDNN_VERSION % 100;
    return 0;
}
API const char *cudnnGetErrorString(int status) { return status ? "not simulated by tfmemlint's driver" : "success"; }
API void cudnnGetLastErrorString(char *text, size_t size) {
    if (size)
        *text = 0;
}
NOTHING(cudnnAdvVersionCheck)
NOTHING(cudnnOpsVersionCheck)
NOTHING(cudnnGraphVersionCheck)
NOTHING(cudnnOpsInferVersionCheck)
NOTHING(cudnnOpsTrainVersionCheck)
NOTHING(cudnnCnnInferVersionCheck)
NOTHING(cudnnCnnTrainVersionCheck)
NOTHING(cudnnAdvInferVersionCheck)
NOTHING(cudnnAdvTrainVersionCheck)

/* Descriptors whose content nobody asks for. */
#define DESCRIPTOR(what) \
    API int cudnnCreate##what##Descriptor(void **descriptor) { return (*descriptor = calloc(1, 64)) ? 0 : 2; } \
    API int cudnnDestroy##what##Descriptor(void *descriptor) { return free(descriptor), 0; }
DESCRIPTOR(Activation)
DESCRIPTOR(CTCLoss)
DESCRIPTOR(Dropout)
DESCRIPTOR(LRN)
DESCRIPTOR(Pooling)
NOTHING(cudnnSetActivationDescriptor)
NOTHING(cudnnSetCTCLossDescriptorEx)
NOTHING(cudnnSetDropoutDescriptor)
NOTHING(cudnnSetLRNDescriptor)
NOTHING(cudnnSetPoolingNdDescriptor)

NOTHING(cudnnActivationForward)
NOTHING(cudnnActivationBackward)
NOTHING(cudnnAddTensor)
NOTHING(cudnnBatchNormalizationBackward)
NOTHING(cudnnBatchNormalizationBackwardEx)
NOTHING(cudnnBatchNormalizationForwardInference)
NOTHING(cudnnBatchNormalizationForwardTraining)
NOTHING(cudnnBatchNormalizationForwardTrainingEx)
NOTHING(cudnnConvolutionBackwardBias)
NOTHING(cudnnConvolutionBackwardData)
NOTHING(cudnnConvolutionBackwardFilter)
NOTHING(cudnnConvolutionBiasActivationForward)
NOTHING(cudnnConvolutionForward)
NOTHING(cudnnLRNCrossChannelBackward)
NOTHING(cudnnLRNCrossChannelForward)
NOTHING(cudnnPoolingBackward)
NOTHING(cudnnPoolingForward)
NOTHING(cudnnTransformTensor)
NOTHING(cudnnReorderFilterAndBias)

API int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void *handle, int mode, int ops, void *x, void *z,
                                                                 void *y, void *scale, void *activation,
                                                                 size_t *bytes) {
    return *bytes = 0, 0;
}
API int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void *handle, int mode, int ops, void *x, void *y, void *dy,
                                                          void *dz, void *dx, void *scale, void *activation,
                                                          size_t *bytes) {
    return *bytes = 0, 0;
}
API int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode, int ops, void *activation,
                                                             void *x, size_t *bytes) {
    return *bytes = 0, 0;
}
API int cudnnGetCTCLossWorkspaceSize(void *handle, void *chances, void *gradients, int *labels, int *label_lengths,
                                     int *lengths, int algorithm, void *descriptor, size_t *bytes) {
    return *bytes = 0, 0;
}
NOTHING(cudnnCTCLoss)
API int cudnnDropoutGetStatesSize(void *handle, size_t *bytes) { return *bytes = 1024, 0; }

/* The graph interface: what is set is forgotten, and one plan is always found. */
struct backend {
    int type;
};
API int cudnnBackendCreateDescriptor(int type, struct backend **descriptor) {
    *descriptor = calloc(1, 64);
    if (*descriptor)
        (*descriptor)->type = type;
    return *descriptor ? 0 : 2;
}
API int cudnnBackendDestroyDescriptor(struct backend *descriptor) { return free(descriptor), 0; }
NOTHING(cudnnBackendInitialize)
NOTHING(cudnnBackendFinalize)
NOTHING(cudnnBackendSetAttribute)
NOTHING(cudnnBackendExecute)

enum { /* the attributes that are asked for */
    ENGINE_HEURISTIC_RESULTS = 202,
    ENGINE_CONFIG_ENGINE = 300,
    ENGINE_CONFIG_WORKSPACE = 303,
    PLAN_ENGINE_CONFIG = 401,
    PLAN_WORKSPACE = 402,
    INTERMEDIATE_SIZE = 802,
    ENGINE_GLOBAL_INDEX = 1301,
};

API int cudnnBackendGetAttribute(struct backend *descriptor, int attribute, int type, int64_t wanted, int64_t *found,
                                 void *values) {
    int64_t count = 0;
    switch (attribute) {
    case ENGINE_HEURISTIC_RESULTS: /* the caller's own descriptor serves as the one result */
    case ENGINE_CONFIG_ENGINE:
    case PLAN_ENGINE_CONFIG:
        count = 1;
        break;
    case ENGINE_CONFIG_WORKSPACE:
    case PLAN_WORKSPACE:
    case ENGINE_GLOBAL_INDEX:
    case INTERMEDIATE_SIZE:
        count = 1;
        if (values && wanted > 0)
            *(int64_t *)values = attribute == INTERMEDIATE_SIZE;
        break;
    }
    if (found)
        *found = count;
    return 0;
}
