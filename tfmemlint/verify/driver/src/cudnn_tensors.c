/* libcudnn: the descriptors of tensors, filters and convolutions remember their shape, since it is asked for. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define RANK 8
#define BAD_PARAM 3

struct shape { /* of a tensor or a filter */
    int type, rank, format;
    int size[RANK], stride[RANK];
};

struct convolution {
    int rank;
    int padding[RANK], stride[RANK], dilation[RANK];
    int groups, math;
};

API int cudnnCreateTensorDescriptor(struct shape **tensor) { return (*tensor = calloc(1, sizeof **tensor)) ? 0 : 2; }
API int cudnnDestroyTensorDescriptor(struct shape *tensor) { return free(tensor), 0; }
API int cudnnCreateFilterDescriptor(struct shape **filter) { return (*filter = calloc(1, sizeof **filter)) ? 0 : 2; }
API int cudnnDestroyFilterDescriptor(struct shape *filter) { return free(filter), 0; }

API int cudnnSetTensorNdDescriptor(struct shape *tensor, int type, int rank, const int *size, const int *stride) {
    if (rank > RANK)
        return BAD_PARAM;
    tensor->type = type;
    tensor->rank = rank;
    memcpy(tensor->size, size, (size_t)rank * sizeof *size);
    memcpy(tensor->stride, stride, (size_t)rank * sizeof *stride);
    return 0;
}

API int cudnnSetTensor4dDescriptor(struct shape *tensor, int format, int type, int n, int c, int h, int w) {
    /* format 1 is NHWC */
    const int size[] = {n, c, h, w};
    const int packed[] = {c * h * w, h * w, w, 1}, channels_last[] = {h * w * c, 1, w * c, c};
    return cudnnSetTensorNdDescriptor(tensor, type, 4, size, format == 1 ? channels_last : packed);
}

API int cudnnGetTensorNdDescriptor(struct shape *tensor, int wanted, int *type, int *rank, int *size, int *stride) {
    *type = tensor->type;
    *rank = tensor->rank;
    int copied = wanted < tensor->rank ? wanted : tensor->rank;
    memcpy(size, tensor->size, (size_t)copied * sizeof *size);
    memcpy(stride, tensor->stride, (size_t)copied * sizeof *stride);
    return 0;
}

API int cudnnSetFilterNdDescriptor(struct shape *filter, int type, int format, int rank, const int *size) {
    if (rank > RANK)
        return BAD_PARAM;
    filter->type = type;
    filter->format = format;
    filter->rank = rank;
    memcpy(filter->size, size, (size_t)rank * sizeof *size);
    return 0;
}

API int cudnnGetFilterNdDescriptor(struct shape *filter, int wanted, int *type, int *format, int *rank, int *size) {
    *type = filter->type;
    *format = filter->format;
    *rank = filter->rank;
    memcpy(size, filter->size, (size_t)(wanted < filter->rank ? wanted : filter->rank) * sizeof *size);
    return 0;
}

API int cudnnCreateConvolutionDescriptor(struct convolution **convolution) {
    *convolution = calloc(1, sizeof **convolution);
    if (*convolution)
        (*convolution)->groups = 1;
    return *convolution ? 0 : 2;
}
API int cudnnDestroyConvolutionDescriptor(struct convolution *convolution) { return free(convolution), 0; }

API int cudnnSetConvolutionNdDescriptor(struct convolution *convolution, int rank, const int *padding,
                                        const int *stride, const int *dilation, int mode, int type) {
    if (rank > RANK)
        return BAD_PARAM;
    convolution->rank = rank;
    memcpy(convolution->padding, padding, (size_t)rank * sizeof *padding);
    memcpy(convolution->stride, stride, (size_t)rank * sizeof *stride);
    memcpy(convolution->dilation, dilation, (size_t)rank * sizeof *dilation);
    return 0;
}
API int cudnnSetConvolutionGroupCount(struct convolution *convolution, int groups) {
    return convolution->groups = groups, 0;
}
/* TensorFlow 2.12 to 2.17 compares it with that of the algorithm before a convolution with an activation. */
API int cudnnSetConvolutionMathType(struct convolution *convolution, int type) { return convolution->math = type, 0; }
API int cudnnGetConvolutionMathType(struct convolution *convolution, int *type) {
    return *type = convolution->math, 0;
}
NOTHING(cudnnSetConvolutionReorderType)

API int cudnnGetConvolutionNdForwardOutputDim(struct convolution *convolution, struct shape *input,
                                              struct shape *filter, int wanted, int *size) {
    if (wanted < 2 || wanted > input->rank)
        return BAD_PARAM;
    size[0] = input->size[0];
    size[1] = filter->size[0];
    for (int index = 2; index < wanted; index++) {
        int place = index - 2;
        int window = (filter->size[index] - 1) * convolution->dilation[place] + 1;
        int padded = input->size[index] + 2 * convolution->padding[place];
        size[index] = (padded - window) / convolution->stride[place] + 1;
    }
    return 0;
}

/* The older interface asks for an algorithm and its workspace: the first one, which needs none. */
API int cudnnGetConvolutionForwardWorkspaceSize(void *handle, void *x, void *w, void *convolution, void *y,
                                                int algorithm, size_t *bytes) {
    return *bytes = 0, 0;
}
API int cudnnGetConvolutionBackwardDataWorkspaceSize(void *handle, void *w, void *dy, void *convolution, void *dx,
                                                     int algorithm, size_t *bytes) {
    return *bytes = 0, 0;
}
API int cudnnGetConvolutionBackwardFilterWorkspaceSize(void *handle, void *x, void *dy, void *convolution, void *dw,
                                                       int algorithm, size_t *bytes) {
    return *bytes = 0, 0;
}

struct algorithm { /* cudnnConvolutionFwdAlgoPerf_t and its two sisters */
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math_type, reserved[3];
};
static int one_algorithm(int wanted, int *found, struct algorithm *results) {
    *found = wanted > 0;
    if (wanted > 0)
        *results = (struct algorithm){.time = 0.01f};
    return 0;
}
#define FIND(name) \
    API int name(void *handle, void *a, void *b, void *convolution, void *c, int wanted, int *found, \
                 struct algorithm *results) { \
        return one_algorithm(wanted, found, results); \
    }
FIND(cudnnGetConvolutionForwardAlgorithm_v7)
FIND(cudnnGetConvolutionBackwardDataAlgorithm_v7)
FIND(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
