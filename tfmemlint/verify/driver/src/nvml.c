/* libnvidia-ml: the management library. It knows every card, by PCI bus, whatever CUDA_VISIBLE_DEVICES says. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    LIBRARY_NOT_FOUND = 12,
};

typedef int status;
typedef const struct card *handle;

static int users;

static const struct machine *machine_in_use(void) { return users > 0 ? sim_machine() : NULL; }

/* The number of the card that a handle stands for, -1 for what isn't a handle. */
static int card_of(handle device) {
    const struct machine *machine = machine_in_use();
    for (int index = 0; machine && index < machine->cards; index++)
        if (device == &machine->card[index])
            return index;
    return -1;
}

#define CARD(device) \
    int card = card_of(device); \
    if (card < 0) \
        return users > 0 ? INVALID_ARGUMENT : UNINITIALIZED;

API status nvmlInit_v2(void) {
    /* A machine without NVIDIA's cards has no NVIDIA libraries. */
    if (!sim_machine()->cards)
        return LIBRARY_NOT_FOUND;
    users++;
    return SUCCESS;
}
API status nvmlInit(void) { return nvmlInit_v2(); }
API status nvmlInitWithFlags(unsigned flags) { return nvmlInit_v2(); }

API status nvmlShutdown(void) {
    if (users < 1)
        return UNINITIALIZED;
    users--;
    return SUCCESS;
}

API const char *nvmlErrorString(status code) {
    switch (code) {
    case SUCCESS:
        return "Success";
    case UNINITIALIZED:
        return "Uninitialized";
    case INVALID_ARGUMENT:
        return "Invalid Argument";
    case NOT_SUPPORTED:
        return "Not Supported";
    case NOT_FOUND:
        return "Not Found";
    case INSUFFICIENT_SIZE:
        return "Insufficient Size";
    case LIBRARY_NOT_FOUND:
        return "NVML Shared Library Not Found";
    default:
        return "Unknown Error";
    }
}

static status text(const char *value, char *out, unsigned size) {
    if (strlen(value) >= size)
        return INSUFFICIENT_SIZE;
    strcpy(out, value);
    return SUCCESS;
}

API status nvmlSystemGetDriverVersion(char *out, unsigned size) {
    return machine_in_use() ? text("570.00.00", out, size) : UNINITIALIZED;
}
API status nvmlSystemGetNVMLVersion(char *out, unsigned size) {
    return machine_in_use() ? text("12.570.00.00", out, size) : UNINITIALIZED;
}
API status nvmlSystemGetCudaDriverVersion_v2(int *version) { return *version = 12080, SUCCESS; }
API status nvmlSystemGetCudaDriverVersion(int *version) { return *version = 12080, SUCCESS; }

API status nvmlDeviceGetCount_v2(unsigned *count) {
    const struct machine *machine = machine_in_use();
    if (!machine)
        return UNINITIALIZED;
    *count = (unsigned)machine->cards;
    return SUCCESS;
}
API status nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }

API status nvmlDeviceGetHandleByIndex_v2(unsigned index, handle *device) {
    const struct machine *machine = machine_in_use();
    if (!machine)
        return UNINITIALIZED;
    if (index >= (unsigned)machine->cards)
        return INVALID_ARGUMENT;
    *device = &machine->card[index];
    return SUCCESS;
}
API status nvmlDeviceGetHandleByIndex(unsigned index, handle *device) {
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

API status nvmlDeviceGetHandleByUUID(const char *uuid, handle *device) {
    const struct machine *machine = machine_in_use();
    if (!machine)
        return UNINITIALIZED;
    for (int index = 0; index < machine->cards; index++)
        if (!strcasecmp(machine->card[index].uuid, uuid)) {
            *device = &machine->card[index];
            return SUCCESS;
        }
    return NOT_FOUND;
}

API status nvmlDeviceGetHandleByPciBusId_v2(const char *bus, handle *device) {
    if (!machine_in_use())
        return UNINITIALIZED;
    int card = sim_card_by_pci_bus_id(bus);
    if (card < 0)
        return NOT_FOUND;
    *device = &sim_machine()->card[card];
    return SUCCESS;
}
API status nvmlDeviceGetHandleByPciBusId(const char *bus, handle *device) {
    return nvmlDeviceGetHandleByPciBusId_v2(bus, device);
}

API status nvmlDeviceGetName(handle device, char *out, unsigned size) {
    CARD(device)
    return text(sim_machine()->card[card].name, out, size);
}
API status nvmlDeviceGetUUID(handle device, char *out, unsigned size) {
    CARD(device)
    return text(sim_machine()->card[card].uuid, out, size);
}
API status nvmlDeviceGetIndex(handle device, unsigned *index) {
    CARD(device)
    return *index = (unsigned)card, SUCCESS;
}
API status nvmlDeviceGetMinorNumber(handle device, unsigned *minor) { return nvmlDeviceGetIndex(device, minor); }

API status nvmlDeviceGetCudaComputeCapability(handle device, int *major, int *minor) {
    CARD(device)
    *major = sim_machine()->card[card].major;
    *minor = sim_machine()->card[card].minor;
    return SUCCESS;
}

struct pci {
    char short_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};

API status nvmlDeviceGetPciInfo_v3(handle device, struct pci *pci) {
    CARD(device)
    memset(pci, 0, sizeof *pci);
    sim_pci_bus_id(card, pci->short_id, sizeof pci->short_id);
    snprintf(pci->id, sizeof pci->id, "0000%s", pci->short_id);
    pci->bus = (unsigned)card + 1;
    return SUCCESS;
}

struct memory {
    unsigned long long total, available, used;
};
struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, available, used;
};

API status nvmlDeviceGetMemoryInfo(handle device, struct memory *memory) {
    CARD(device)
    memory->total = sim_machine()->card[card].total;
    memory->available = sim_free_bytes(card);
    memory->used = memory->total - memory->available;
    return SUCCESS;
}
API status nvmlDeviceGetMemoryInfo_v2(handle device, struct memory_v2 *memory) {
    struct memory first;
    status result = nvmlDeviceGetMemoryInfo(device, &first);
    if (result)
        return result;
    *memory = (struct memory_v2){memory->version, first.total, 0, first.available, first.used};
    return SUCCESS;
}

struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};
struct process_v1 {
    unsigned pid;
    unsigned long long bytes;
};

/* `wide`: the structure has the fields for the parts of a divided GPU. */
static status processes(handle device, unsigned *number, void *out, int wide) {
    CARD(device)
    struct process_use uses[MAX_PROCESSES];
    int found = sim_processes(card, uses, MAX_PROCESSES);
    unsigned room = *number;
    *number = (unsigned)found;
    if (room < (unsigned)found)
        return INSUFFICIENT_SIZE;
    for (int index = 0; index < found; index++) {
        if (wide)
            ((struct process *)out)[index] =
                (struct process){(unsigned)uses[index].pid, uses[index].bytes, ~0u, ~0u};
        else
            ((struct process_v1 *)out)[index] = (struct process_v1){(unsigned)uses[index].pid, uses[index].bytes};
    }
    return SUCCESS;
}

API status nvmlDeviceGetComputeRunningProcesses_v3(handle device, unsigned *number, void *out) {
    return processes(device, number, out, 1);
}
API status nvmlDeviceGetComputeRunningProcesses_v2(handle device, unsigned *number, void *out) {
    return processes(device, number, out, 1);
}
API status nvmlDeviceGetComputeRunningProcesses(handle device, unsigned *number, void *out) {
    return processes(device, number, out, 0);
}

static status no_processes(handle device, unsigned *number) {
    CARD(device)
    return *number = 0, SUCCESS;
}
API status nvmlDeviceGetGraphicsRunningProcesses_v3(handle device, unsigned *number, void *out) {
    return no_processes(device, number);
}
API status nvmlDeviceGetGraphicsRunningProcesses_v2(handle device, unsigned *number, void *out) {
    return no_processes(device, number);
}

API status nvmlDeviceGetMigMode(handle device, unsigned *current, unsigned *pending) {
    CARD(device)
    return NOT_SUPPORTED;
}

struct utilization {
    unsigned gpu, memory;
};
API status nvmlDeviceGetUtilizationRates(handle device, struct utilization *rates) {
    CARD(device)
    *rates = (struct utilization){0, 0};
    return SUCCESS;
}

API status nvmlDeviceGetCurrPcieLinkGeneration(handle device, unsigned *value) { return *value = 5, SUCCESS; }
API status nvmlDeviceGetMaxPcieLinkGeneration(handle device, unsigned *value) { return *value = 5, SUCCESS; }
API status nvmlDeviceGetCurrPcieLinkWidth(handle device, unsigned *value) { return *value = 16, SUCCESS; }
API status nvmlDeviceGetMaxPcieLinkWidth(handle device, unsigned *value) { return *value = 16, SUCCESS; }

/* A card without NVLink. */
API status nvmlDeviceGetNvLinkState(handle device, unsigned link, int *active) { return NOT_SUPPORTED; }
API status nvmlDeviceGetNvLinkCapability(handle device, unsigned link, int what, unsigned *value) {
    return NOT_SUPPORTED;
}
API status nvmlDeviceGetGpuFabricInfo(handle device, void *info) { return NOT_SUPPORTED; }
API status nvmlDeviceGetGpuFabricInfoV(handle device, void *info) { return NOT_SUPPORTED; }
API status nvmlDeviceGetP2PStatus(handle device, handle peer, int what, int *answer) {
    return *answer = 5, SUCCESS; /* NVML_P2P_STATUS_NOT_SUPPORTED */
}
