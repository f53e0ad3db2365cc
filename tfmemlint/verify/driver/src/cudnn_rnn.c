/* libcudnn: recurrent networks. Nothing is computed, but the sizes of weights are exact, since TensorFlow allocates by
 * them; those of the work and reserve spaces are estimates, since NVIDIA doesn't say how they come about. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int cudnnCreateTensorDescriptor(void **), cudnnDestroyTensorDescriptor(void *);
int cudnnSetTensorNdDescriptor(void *, int, int, const int *, const int *);
int cudnnGetTensorNdDescriptor(void *, int, int *, int *, int *, int *);
int cudnnSetFilterNdDescriptor(void *, int, int, int, const int *);

enum { LSTM = 2, GRU = 3 };              /* cell; 0 and 1 are the simple ones */
enum { DOUBLE = 1, HALF = 2, BFLOAT = 9 }; /* type; 0 is float */

struct rnn {
    int algorithm, cell, bias, directions, input_mode, type, math_precision, math_type;
    int input, hidden, projection, layers;
    void *dropout;
    unsigned flags;
};

struct data {
    int type, layout, steps, batch, vector;
};

API int cudnnCreateRNNDescriptor(struct rnn **rnn) { return (*rnn = calloc(1, sizeof **rnn)) ? 0 : 2; }
API int cudnnDestroyRNNDescriptor(struct rnn *rnn) { return free(rnn), 0; }

API int cudnnSetRNNDescriptor_v8(struct rnn *rnn, int algorithm, int cell, int bias, int bidirectional, int input_mode,
                                 int type, int math_precision, int math_type, int input, int hidden, int projection,
                                 int layers, void *dropout, unsigned flags) {
    *rnn = (struct rnn){algorithm, cell,   bias,       bidirectional + 1, input_mode, type, math_precision, math_type,
                        input,     hidden, projection, layers,            dropout,    flags};
    return 0;
}

API int cudnnGetRNNDescriptor_v8(struct rnn *rnn, int *algorithm, int *cell, int *bias, int *bidirectional,
                                 int *input_mode, int *type, int *math_precision, int *math_type, int *input,
                                 int *hidden, int *projection, int *layers, void **dropout, unsigned *flags) {
    /* The caller passes NULL for what it doesn't want to know. */
#define PUT(field) \
    if (field) \
        *field = rnn->field;
    PUT(algorithm)
    PUT(cell)
    PUT(bias)
    PUT(input_mode)
    PUT(type)
    PUT(math_precision)
    PUT(math_type)
    PUT(input)
    PUT(hidden)
    PUT(projection)
    PUT(layers)
    PUT(dropout)
    PUT(flags)
    if (bidirectional)
        *bidirectional = rnn->directions - 1;
    return 0;
}

API int cudnnCreateRNNDataDescriptor(struct data **data) { return (*data = calloc(1, sizeof **data)) ? 0 : 2; }
API int cudnnDestroyRNNDataDescriptor(struct data *data) { return free(data), 0; }
API int cudnnSetRNNDataDescriptor(struct data *data, int type, int layout, int steps, int batch, int vector,
                                  const int *lengths, void *padding) {
    *data = (struct data){type, layout, steps, batch, vector};
    return 0;
}

static size_t element(const struct rnn *rnn) {
    return rnn->type == DOUBLE ? 8 : rnn->type == HALF || rnn->type == BFLOAT ? 2 : 4;
}

static int gates(const struct rnn *rnn) { return rnn->cell == LSTM ? 4 : rnn->cell == GRU ? 3 : 1; }

/* What goes into the matrices of one layer from below, and what comes around from the step before. */
static size_t below(const struct rnn *rnn, int layer) {
    size_t output = (size_t)(rnn->cell == LSTM && rnn->projection ? rnn->projection : rnn->hidden);
    return layer ? output * (size_t)rnn->directions : rnn->input_mode ? 0 : (size_t)rnn->input;
}
static size_t around(const struct rnn *rnn) {
    return (size_t)(rnn->cell == LSTM && rnn->projection ? rnn->projection : rnn->hidden);
}
static int projects(const struct rnn *rnn) {
    return rnn->cell == LSTM && rnn->projection && rnn->projection != rnn->hidden;
}

/* Elements of all matrices of one layer in one direction. */
static size_t matrices(const struct rnn *rnn, int layer) {
    size_t hidden = (size_t)rnn->hidden;
    size_t number = (size_t)gates(rnn) * hidden * (below(rnn, layer) + around(rnn));
    return number + (projects(rnn) ? hidden * (size_t)rnn->projection : 0);
}

/* 0: none, 1 and 3: one for each gate, 2: two. */
static size_t biases(const struct rnn *rnn) {
    size_t sets = rnn->bias == 0 ? 0 : rnn->bias == 2 ? 2 : 1;
    return sets * (size_t)gates(rnn) * (size_t)rnn->hidden;
}

static size_t matrices_before(const struct rnn *rnn, int pseudo_layer) {
    size_t number = 0;
    for (int index = 0; index < pseudo_layer; index++)
        number += matrices(rnn, index / rnn->directions);
    return number;
}

API int cudnnGetRNNWeightSpaceSize(void *handle, struct rnn *rnn, size_t *bytes) {
    int pseudo_layers = rnn->layers * rnn->directions;
    *bytes = (matrices_before(rnn, pseudo_layers) + (size_t)pseudo_layers * biases(rnn)) * element(rnn);
    return 0;
}

static void describe(const struct rnn *rnn, void *tensor, size_t rows, size_t columns) {
    int size[] = {1, (int)rows, (int)columns}, stride[] = {(int)(rows * columns), (int)columns, 1};
    cudnnSetTensorNdDescriptor(tensor, rnn->type, 3, size, stride);
}

/* All matrices come first, layer by layer, then all biases. */
API int cudnnGetRNNWeightParams(void *handle, struct rnn *rnn, int pseudo_layer, size_t bytes, char *weights, int which,
                                void *matrix, void **matrix_address, void *bias, void **bias_address) {
    size_t hidden = (size_t)rnn->hidden, size = element(rnn);
    int number = gates(rnn), layer = pseudo_layer / rnn->directions;
    size_t inputs = below(rnn, layer), returned = around(rnn);
    size_t at = matrices_before(rnn, pseudo_layer);
    *matrix_address = *bias_address = NULL;
    if (which < 0 || which > 2 * number || (which == 2 * number && !projects(rnn)))
        return 0;
    if (which < number) {
        at += (size_t)which * hidden * inputs;
        describe(rnn, matrix, hidden, inputs);
    } else {
        at += (size_t)number * hidden * inputs + (size_t)(which - number) * hidden * returned;
        describe(rnn, matrix, which == 2 * number ? returned : hidden, which == 2 * number ? hidden : returned);
    }
    *matrix_address = weights + at * size;
    size_t sets = biases(rnn) / ((size_t)number * hidden);
    size_t place = sets == 2 ? (size_t)which : rnn->bias == 3 ? (size_t)(which - number) : (size_t)which;
    if (place < sets * (size_t)number) {
        int pseudo_layers = rnn->layers * rnn->directions;
        at = matrices_before(rnn, pseudo_layers) + (size_t)pseudo_layer * biases(rnn) + place * hidden;
        describe(rnn, bias, hidden, 1);
        *bias_address = weights + at * size;
    }
    return 0;
}

/* Estimates: the gates and the state of every step for the backward pass, and the gates of one layer for the forward. */
API int cudnnGetRNNTempSpaceSizes(void *handle, struct rnn *rnn, int training, struct data *data, size_t *work,
                                  size_t *reserve) {
    size_t step = (size_t)data->batch * (size_t)rnn->hidden * (size_t)rnn->directions * element(rnn);
    size_t layer = step * (size_t)data->steps;
    if (work)
        *work = layer * (size_t)gates(rnn);
    if (reserve)
        *reserve = training ? layer * (size_t)rnn->layers * (size_t)(gates(rnn) + 2) : 0;
    return 0;
}

/* The interface before cuDNN 8.1, which TensorFlow keeps using until 2.17 for sequences of one length. */
API int cudnnGetRNNDescriptor_v6(void *handle, struct rnn *rnn, int *hidden, int *layers, void **dropout,
                                 int *input_mode, int *bidirectional, int *cell, int *algorithm, int *math_precision) {
    return cudnnGetRNNDescriptor_v8(rnn, algorithm, cell, NULL, bidirectional, input_mode, NULL, math_precision, NULL,
                                    NULL, hidden, NULL, layers, dropout, NULL);
}
API int cudnnGetRNNProjectionLayers(void *handle, struct rnn *rnn, int *recurrent, int *output) {
    *recurrent = projects(rnn) ? rnn->projection : 0;
    *output = 0;
    return 0;
}
API int cudnnGetRNNParamsSize(void *handle, struct rnn *rnn, void *tensor, size_t *bytes, int type) {
    return cudnnGetRNNWeightSpaceSize(handle, rnn, bytes);
}

/* `tensors` has one descriptor for every step; the size of a batch is that of the first. */
static int old_spaces(struct rnn *rnn, int steps, void *const *tensors, size_t *work, size_t *reserve) {
    int type, rank, size[3] = {0}, stride[3];
    cudnnGetTensorNdDescriptor(tensors[0], 3, &type, &rank, size, stride);
    struct data data = {.steps = steps, .batch = size[0]};
    return cudnnGetRNNTempSpaceSizes(NULL, rnn, 1, &data, work, reserve);
}
API int cudnnGetRNNWorkspaceSize(void *handle, struct rnn *rnn, int steps, void *const *tensors, size_t *bytes) {
    return old_spaces(rnn, steps, tensors, bytes, NULL);
}
API int cudnnGetRNNTrainingReserveSize(void *handle, struct rnn *rnn, int steps, void *const *tensors,
                                       size_t *bytes) {
    return old_spaces(rnn, steps, tensors, NULL, bytes);
}

/* One matrix or one bias; they are described as filters there. */
static int old_parameters(struct rnn *rnn, int pseudo_layer, char *weights, int which, void *filter, void **address,
                          int want_bias) {
    void *tensor, *matrix, *bias;
    int type, rank, size[3], stride[3];
    if (cudnnCreateTensorDescriptor(&tensor))
        return 2;
    cudnnGetRNNWeightParams(NULL, rnn, pseudo_layer, 0, weights, which, tensor, &matrix, tensor, &bias);
    if (!want_bias) /* the second answer has overwritten the first's shape */
        describe(rnn, tensor, (size_t)rnn->hidden,
                 which < gates(rnn) ? below(rnn, pseudo_layer / rnn->directions) : around(rnn));
    *address = want_bias ? bias : matrix;
    cudnnGetTensorNdDescriptor(tensor, 3, &type, &rank, size, stride);
    cudnnDestroyTensorDescriptor(tensor);
    return cudnnSetFilterNdDescriptor(filter, rnn->type, 0, 3, size);
}
API int cudnnGetRNNLinLayerMatrixParams(void *handle, struct rnn *rnn, int pseudo_layer, void *tensor, void *all,
                                        char *weights, int which, void *filter, void **address) {
    return old_parameters(rnn, pseudo_layer, weights, which, filter, address, 0);
}
API int cudnnGetRNNLinLayerBiasParams(void *handle, struct rnn *rnn, int pseudo_layer, void *tensor, void *all,
                                      char *weights, int which, void *filter, void **address) {
    return old_parameters(rnn, pseudo_layer, weights, which, filter, address, 1);
}

NOTHING(cudnnCreatePersistentRNNPlan)
NOTHING(cudnnSetPersistentRNNPlan)
NOTHING(cudnnDestroyPersistentRNNPlan)
NOTHING(cudnnRNNForwardInference)
NOTHING(cudnnRNNForwardInferenceEx)
NOTHING(cudnnRNNForwardTraining)
NOTHING(cudnnRNNForwardTrainingEx)
NOTHING(cudnnRNNBackwardData)
NOTHING(cudnnRNNBackwardDataEx)
NOTHING(cudnnRNNBackwardWeights)
NOTHING(cudnnRNNBackwardWeightsEx)
NOTHING(cudnnBuildRNNDynamic)
NOTHING(cudnnRNNForward)
NOTHING(cudnnRNNBackwardData_v8)
NOTHING(cudnnRNNBackwardWeights_v8)
