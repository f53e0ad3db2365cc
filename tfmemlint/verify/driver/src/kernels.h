/* The few kernels that are stood in for.
 *
 * Kernels compute nothing, so what they would have written is whatever the memory held before. For the numbers of a
 * model that is harmless. But a boolean that decides which branch is taken, or an integer that becomes a shape, would
 * end the program with an error that no GPU gives. Those kernels do their work here, if the tensor is small. */
#ifndef KERNELS_H
#define KERNELS_H

/* Do what the kernel of this mangled name does, if it is one of them. */
void kernel_run(const char *name, void **arguments);

/* kernels_elementwise.c: kernels that TensorFlow generated itself, such as Cast_GPU_DT_BOOL_DT_INT32_kernel. */
int elementwise_run(const char *name, void **arguments);

/* Tensors with more elements don't steer a program. */
#define SMALL 4096

/* An argument of a kernel: arguments are passed by their address. */
#define ARGUMENT(type, index) (*(type *)arguments[index])

#endif
