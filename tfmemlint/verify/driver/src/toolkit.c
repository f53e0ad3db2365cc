/* ptxas and nvlink: XLA starts these programs of the CUDA toolkit to make machine code of a kernel. As kernels are not
 * run, no code is made, and no toolkit is needed: the result is a file that no one but the simulated libcuda reads. */
#include <stdio.h>
#include <string.h>

#if CUDART_VERSION >= 12000
#define VERSION "12.9, V12.9.86"
#else
#define VERSION "11.8, V11.8.89"
#endif

int main(int number, char **arguments) {
    const char *result = NULL;
    for (int at = 1; at < number; at++) {
        if (!strcmp(arguments[at], "--version")) {
            /* XLA warns of releases with known faults, up to 12.6.2. */
            puts("Cuda compilation tools, release " VERSION);
            return 0;
        }
        if (!strcmp(arguments[at], "-o") && at + 1 < number)
            result = arguments[++at];
    }
    FILE *file = result ? fopen(result, "wb") : NULL;
    if (!file)
        return 1;
    const char head[64] = "\x7f" "ELF\x02\x01\x01";
    int failed = fwrite(head, sizeof head, 1, file) != 1;
    return fclose(file) || failed;
}
