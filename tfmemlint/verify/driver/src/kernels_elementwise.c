/* Kernels that TensorFlow generated itself, named OPERATION_GPU_DT_INPUT_DT_OUTPUT_kernel.
 *
 * Where no broadcasting over several dimensions takes place, the arguments are the number of elements and then every
 * tensor as: address, the same address, offset, size, stride; a scalar beside a larger tensor lacks the last two. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "kernels.h"
#include "sim.h"

enum type { BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT, DOUBLE, TYPES };

static const struct {
    const char *name;
    size_t size;
} types[TYPES] = {
    {"BOOL", 1},  {"INT8", 1},   {"UINT8", 1}, {"INT16", 2},  {"UINT16", 2}, {"INT32", 4},
    {"UINT32", 4}, {"INT64", 8}, {"UINT64", 8}, {"FLOAT", 4}, {"DOUBLE", 8},
};

static int type_of(const char *name, size_t length) {
    for (int type = 0; type < TYPES; type++)
        if (strlen(types[type].name) == length && !strncmp(types[type].name, name, length))
            return type;
    return -1;
}

/* Integers and floating-point numbers are kept apart: a double can't hold every 64-bit integer. */
struct value {
    int64_t whole;
    double real;
};

#define READ(what, ctype) \
    case what: \
        return (struct value){(int64_t)((const ctype *)from)[index], (double)((const ctype *)from)[index]};
static struct value load(const void *from, enum type type, int64_t index) {
    double real;
    switch (type) {
        READ(INT8, int8_t)
        READ(UINT8, uint8_t)
        READ(INT16, int16_t)
        READ(UINT16, uint16_t)
        READ(INT32, int32_t)
        READ(UINT32, uint32_t)
        READ(INT64, int64_t)
        READ(UINT64, uint64_t)
    case BOOL:
        return (struct value){((const uint8_t *)from)[index] != 0, ((const uint8_t *)from)[index] != 0};
    default:
        real = type == FLOAT ? (double)((const float *)from)[index] : ((const double *)from)[index];
        /* Numbers that no integer can hold come from memory that no kernel has filled. */
        return (struct value){real > -9e18 && real < 9e18 ? (int64_t)real : 0, real};
    }
}

static void store(void *to, enum type type, int64_t index, struct value value) {
    if (type == FLOAT)
        ((float *)to)[index] = (float)value.real;
    else if (type == DOUBLE)
        ((double *)to)[index] = value.real;
    else if (type == BOOL)
        ((uint8_t *)to)[index] = value.whole != 0;
    else /* little-endian: the low bytes are the number in any width */
        memcpy((char *)to + (size_t)index * types[type].size, &value.whole, types[type].size);
}

static struct value whole(int64_t number) { return (struct value){number, (double)number}; }

#define COMPARE(text, operator) \
    if (!strcmp(operation, text)) \
        return whole(is_real ? a.real operator b.real : a.whole operator b.whole);
#define COMPUTE(text, operator) \
    if (!strcmp(operation, text)) \
        return (struct value){(int64_t)((uint64_t)a.whole operator(uint64_t) b.whole), a.real operator b.real};

/* `known` is set to 0 for an operation that isn't stood in for. */
static struct value compute(const char *operation, int is_real, struct value a, struct value b, int *known) {
    COMPARE("Equal", ==)
    COMPARE("NotEqual", !=)
    COMPARE("Less", <)
    COMPARE("LessEqual", <=)
    COMPARE("Greater", >)
    COMPARE("GreaterEqual", >=)
    COMPUTE("AddV2", +)
    COMPUTE("Sub", -)
    COMPUTE("Mul", *)
    if (!strcmp(operation, "LogicalAnd"))
        return whole(a.whole && b.whole);
    if (!strcmp(operation, "LogicalOr"))
        return whole(a.whole || b.whole);
    if (!strcmp(operation, "LogicalNot"))
        return whole(!a.whole);
    if (!strcmp(operation, "Maximum"))
        return a.real > b.real ? a : b;
    if (!strcmp(operation, "Minimum"))
        return a.real < b.real ? a : b;
    if (!strcmp(operation, "FloorDiv") && !is_real) {
        if (!b.whole || (b.whole == -1 && a.whole == INT64_MIN))
            return whole(0);
        return whole(a.whole / b.whole - (a.whole % b.whole != 0 && (a.whole < 0) != (b.whole < 0)));
    }
    if (!strcmp(operation, "Cast") || !strcmp(operation, "Identity"))
        return a;
    *known = 0;
    return a;
}

struct tensor {
    char *address;
    int64_t size; /* 0: a scalar that serves every element */
};

static int is_device_address(uint64_t value) {
    struct region region;
    return value > SMALL && region_find((uintptr_t)value, &region);
}

/* Read one tensor from argument *at on; 0 where it isn't one. */
static int next_tensor(void **arguments, int *at, int may_be_scalar, struct tensor *tensor) {
    uint64_t first = ARGUMENT(uint64_t, *at), second = ARGUMENT(uint64_t, *at + 1), offset = ARGUMENT(uint64_t, *at + 2);
    if (first != second || offset || !is_device_address(first))
        return 0;
    tensor->address = (char *)first;
    tensor->size = 0;
    *at += 3;
    /* What follows a scalar is the next tensor's address. */
    if (!may_be_scalar || !is_device_address(ARGUMENT(uint64_t, *at))) {
        tensor->size = ARGUMENT(int64_t, *at);
        *at += 2;
    }
    return 1;
}

/* Operations that ask whether a floating-point number is sound: all are, whatever the memory holds. */
static int sound(const char *operation) {
    return !strcmp(operation, "IsFinite") ? 1 : !strcmp(operation, "IsNan") || !strcmp(operation, "IsInf") ? 0 : -1;
}

int elementwise_run(const char *name, void **arguments) {
    const char *middle = strstr(name, "_GPU_DT_");
    if (!middle)
        return 0;
    const char *input = middle + 8, *between = strstr(input, "_DT_");
    const char *end = between ? strstr(between, "_kernel") : NULL;
    char operation[32];
    if (!end || (size_t)(middle - name) >= sizeof operation)
        return 1;
    snprintf(operation, sizeof operation, "%.*s", (int)(middle - name), name);
    int from = type_of(input, (size_t)(between - input)), to = type_of(between + 4, (size_t)(end - between - 4));
    int unary = !strcmp(operation, "Cast") || !strcmp(operation, "LogicalNot") || sound(operation) >= 0;
    /* Numbers stay what they are; what can steer a program has a boolean or an integer on one side. */
    if (to < 0 || (to >= FLOAT && from >= FLOAT) || (from < 0 && sound(operation) < 0))
        return 1;
    int64_t number = ARGUMENT(int64_t, 0);
    if (number <= 0 || is_device_address((uint64_t)number))
        return 1; /* broadcasting over several dimensions: not stood in for */
    struct tensor a, b = {0}, out;
    int at = 1;
    if (!next_tensor(arguments, &at, !unary, &a) || (!unary && !next_tensor(arguments, &at, 1, &b)) ||
        !next_tensor(arguments, &at, 0, &out) || out.size != number)
        return 1;
    if (sound(operation) >= 0) {
        memset(out.address, sound(operation), (size_t)number);
        return 1;
    }
    if (number > SMALL)
        return 1;
    for (int64_t index = 0; index < number; index++) {
        int known = 1;
        struct value left = load(a.address, from, a.size ? index : 0);
        struct value right = unary ? whole(0) : load(b.address, from, b.size ? index : 0);
        struct value result = compute(operation, from >= FLOAT, left, right, &known);
        if (!known)
            return 1;
        store(out.address, to, index, result);
    }
    return 1;
}
