/* The log: one line for each thing that happened, "PID WORD FIELDS...", in the file named by TFMEMLINT_SIM_LOG. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

void sim_log(const char *format, ...) {
    static int file = -1;
    static pid_t owner;
    /* Opened anew in a forked process: it may have been given a log of its own. */
    if (owner != getpid()) {
        const char *path = getenv("TFMEMLINT_SIM_LOG");
        file = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
        owner = getpid();
    }
    if (file < 0)
        return;
    char line[512];
    int size = snprintf(line, sizeof line, "%d ", (int)owner);
    va_list fields;
    va_start(fields, format);
    size += vsnprintf(line + size, sizeof line - (size_t)size - 1, format, fields);
    va_end(fields);
    if (size > (int)sizeof line - 2)
        size = (int)sizeof line - 2;
    line[size++] = '\n';
    /* One write a line, so that the lines of several threads and processes don't mix. */
    if (write(file, line, (size_t)size) < 0)
        file = -1;
}

int sim_unsimulated(const char *name, int *said, int code) {
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) {
        sim_log("unsimulated %s", name);
        fprintf(stderr, "tfmemlint: the simulated driver has no %s; error %d is returned\n", name, code);
    }
    return code;
}
