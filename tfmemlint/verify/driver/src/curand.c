/* libcurand: TensorFlow opens it and, in some releases, makes a generator. */
#include <stdlib.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

API int curandCreateGenerator(void **generator, int type) { return (*generator = calloc(1, 16)) ? 0 : 102; }
API int curandDestroyGenerator(void *generator) {
    free(generator);
    return 0;
}
API int curandGetVersion(int *version) { return *version = 10000, 0; }
NOTHING(curandSetStream)
NOTHING(curandSetPseudoRandomGeneratorSeed)
NOTHING(curandSetGeneratorOffset)
NOTHING(curandGenerateUniform)
NOTHING(curandGenerateUniformDouble)
NOTHING(curandGenerateNormal)
NOTHING(curandGenerateNormalDouble)
