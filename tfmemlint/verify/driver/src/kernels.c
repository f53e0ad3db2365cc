/* Kernels compiled from C++, known by their mangled names; their arguments are those of the C++ function. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "kernels.h"
#include "sim.h"

/* GpuDeviceArrayStruct<T, 8> of TensorFlow: up to eight values inside, more at an address. */
struct int_array {
    int size, inside[8];
    const int *outside;
};
struct pointer_array {
    int size;
    const char *inside[8];
    const char *const *outside;
};

/* DynamicStitchKernel<T>(slice size, output size, indices, inputs, output): makes shapes in gradients. */
static void dynamic_stitch(void **arguments, size_t element) {
    int slice = ARGUMENT(int, 0), total = ARGUMENT(int, 1);
    const struct int_array *indices = arguments[2];
    const struct pointer_array *inputs = arguments[3];
    char *output = ARGUMENT(char *, 4);
    if (slice <= 0 || total <= 0 || total > SMALL)
        return;
    const int *chosen = indices->size <= 8 ? indices->inside : indices->outside;
    const char *const *from = inputs->size <= 8 ? inputs->inside : inputs->outside;
    size_t bytes = (size_t)slice * element;
    for (int index = 0; index < total / slice; index++)
        if (chosen[index] != -1)
            memmove(output + (size_t)index * bytes, from[chosen[index]], bytes);
}

/* BlockReduceKernel<bool*, bool*, threads, And or Or>(in, out, elements, ...): tf.reduce_all and tf.reduce_any. */
static void reduce_booleans(void **arguments, int is_all) {
    const unsigned char *in = ARGUMENT(const unsigned char *, 0);
    unsigned char *out = ARGUMENT(unsigned char *, 1);
    int number = ARGUMENT(int, 2), result = is_all;
    for (int index = 0; index < number && number <= SMALL; index++)
        if ((in[index] != 0) != is_all)
            result = !is_all;
    *out = (unsigned char)result;
}

/* The second half of a large reduction, or one over rows: (in, out, rows, ...). All is well, and nothing isn't. */
static void settle_booleans(void **arguments, int is_all) {
    unsigned char *out = ARGUMENT(unsigned char *, 1);
    int rows = ARGUMENT(int, 2);
    struct region region;
    if (rows > 0 && rows <= SMALL && region_find((uintptr_t)out, &region))
        memset(out, is_all, (size_t)rows);
}

void kernel_run(const char *name, void **arguments) {
    if (elementwise_run(name, arguments))
        return;
    if (strstr(name, "DynamicStitchKernelIi"))
        dynamic_stitch(arguments, 4);
    else if (strstr(name, "DynamicStitchKernelIl") || strstr(name, "DynamicStitchKernelIx"))
        dynamic_stitch(arguments, 8);
    else if (strstr(name, "BlockReduceKernelIPb"))
        reduce_booleans(arguments, strstr(name, "3AndE") != NULL);
    else if (strstr(name, "CleanupSegmentsIPb") || strstr(name, "RowReduceKernelIPb"))
        settle_booleans(arguments, strstr(name, "3AndE") != NULL);
}
