/* What the stand-ins share: the simulated machine, the ledger of its memory, and the log.
 *
 * All of it lives in libcuda.so.1, so that NVML, the CUDA runtime and the driver see one state in a process.
 * Nothing here runs when a library is loaded: the environment is read on first use. A server may therefore import
 * TensorFlow, fork, and set the variables in the child. */
#ifndef SIM_H
#define SIM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define API __attribute__((visibility("default")))

/* A function that computes on the GPU: accepted, and nothing happens. */
#define NOTHING(name) \
    API int name(void) { return 0; }

#define MAX_CARDS 32
#define MAX_PROCESSES 256
#define MIB ((size_t)1 << 20)

struct card {
    size_t total;  /* bytes */
    size_t others; /* bytes that processes outside the simulation use */
    int major, minor;
    char uuid[48]; /* GPU-8-4-4-4-12 */
    unsigned char uuid_bytes[16];
    char name[32];
};

struct machine {
    int cards; /* as NVML numbers them, by PCI bus */
    struct card card[MAX_CARDS];
    int shown;              /* how many of them CUDA shows to this process */
    int card_of[MAX_CARDS]; /* CUDA's number -> the card */
    size_t context;         /* bytes that a CUDA context takes of its card */
};

struct process_use {
    pid_t pid;
    size_t bytes;
};

/* machine.c: the cards of the machine, by the environment when this is first called. */
API const struct machine *sim_machine(void);
/* The same, with what CUDA shows of them: CUDA_VISIBLE_DEVICES is read when CUDA is first used. NVML knows nothing of
 * that variable, so a program may ask it first and set the variable then. */
API const struct machine *sim_cuda(void);
/* The process forked after CUDA was started: CUDA can't be used in it, as on a real machine. */
API int sim_forked(void);
API void sim_pci_bus_id(int card, char *text, size_t size);
API int sim_card_by_pci_bus_id(const char *text); /* -1: none */

/* ledger.c: who holds how much of which card. */
int ledger_take(int card, size_t bytes); /* 0: there is not so much left */
void ledger_give(int card, size_t bytes);
size_t ledger_held(int card); /* by this process */
API size_t sim_free_bytes(int card);
API int sim_processes(int card, struct process_use *uses, int size); /* returns how many hold or use the card */
void ledger_context(int card); /* this process uses the card from now on */

/* log.c */
API void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
API int sim_unsimulated(const char *name, int *said, int code);

/* module.c: one kernel launch with its arguments, by the kernel's (mangled) name. */
API void sim_launch(const char *name, void **arguments);

#endif
