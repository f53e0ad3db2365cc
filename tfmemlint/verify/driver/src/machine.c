/* The simulated machine: its cards, and which of them CUDA shows to this process. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct machine machine;
static int configured;
static pid_t started_by;

/* The number for card `index` in a list such as "16384,8192"; the last one serves for those that are missing. */
static size_t number(const char *variable, int index, size_t fallback) {
    const char *text = getenv(variable);
    if (!text || !*text)
        return fallback;
    size_t value = fallback;
    for (int at = 0; at <= index; at++) {
        value = strtoull(text, NULL, 10);
        text = strchr(text, ',');
        if (!text)
            break;
        text++;
    }
    return value;
}

/* The word for card `index` in a list, "" where there is none. */
static void word(const char *variable, int index, char *out, size_t size) {
    const char *text = getenv(variable);
    for (; text && index > 0; index--) {
        text = strchr(text, ',');
        if (text)
            text++;
    }
    size_t length = text ? strcspn(text, ",") : 0;
    if (length >= size)
        length = size - 1;
    if (length)
        memcpy(out, text, length);
    out[length] = 0;
}

static void read_uuid(struct card *card, int index) {
    word("TFMEMLINT_SIM_UUIDS", index, card->uuid, sizeof card->uuid);
    if (!*card->uuid)
        snprintf(card->uuid, sizeof card->uuid, "GPU-00000000-0000-4000-8000-%012x", index + 1);
    int digits = 0;
    for (const char *at = card->uuid + 4; *at && digits < 32; at++) {
        if (!isxdigit((unsigned char)*at))
            continue;
        int value = isdigit((unsigned char)*at) ? *at - '0' : tolower((unsigned char)*at) - 'a' + 10;
        card->uuid_bytes[digits / 2] = (unsigned char)(card->uuid_bytes[digits / 2] << 4 | value);
        digits++;
    }
}

/* The place in `order` of the card that an entry of CUDA_VISIBLE_DEVICES names, -1 for an invalid entry. */
static int entry_place(const char *entry, const int *order) {
    size_t length = strlen(entry);
    if (length && strspn(entry, "0123456789") == length) {
        long index = length < 6 ? strtol(entry, NULL, 10) : machine.cards;
        return index < machine.cards ? (int)index : -1;
    }
    if (strncmp(entry, "GPU-", 4) != 0)
        return -1;
    int found = -1;
    for (int place = 0; place < machine.cards; place++) {
        if (strncasecmp(machine.card[order[place]].uuid, entry, length) != 0)
            continue;
        if (found >= 0)
            return -1; /* the prefix must be unique */
        found = place;
    }
    return found;
}

static void choose_shown(void) {
    int order[MAX_CARDS];
    const char *ordering = getenv("CUDA_DEVICE_ORDER");
    int by_bus = ordering && !strcmp(ordering, "PCI_BUS_ID");
    for (int place = 0; place < machine.cards; place++) {
        size_t card = by_bus ? (size_t)place : number("TFMEMLINT_SIM_CUDA_ORDER", place, (size_t)place);
        order[place] = card < (size_t)machine.cards ? (int)card : place;
    }
    const char *variable = getenv("CUDA_VISIBLE_DEVICES");
    machine.shown = 0;
    if (!variable) {
        memcpy(machine.card_of, order, sizeof order);
        machine.shown = machine.cards;
        return;
    }
    int chosen[MAX_CARDS] = {0};
    while (machine.shown < machine.cards) {
        variable += strspn(variable, " \t");
        size_t length = strcspn(variable, ",");
        int last = !variable[length];
        char entry[64] = "";
        size_t kept = length;
        while (kept && isspace((unsigned char)variable[kept - 1]))
            kept--;
        if (kept >= sizeof entry)
            return;
        memcpy(entry, variable, kept);
        int place = entry_place(entry, order);
        if (place < 0)
            return; /* what follows an invalid entry doesn't count */
        if (chosen[order[place]]++) {
            machine.shown = 0; /* a card named twice: none */
            return;
        }
        machine.card_of[machine.shown++] = order[place];
        if (last)
            return;
        variable += length + 1;
    }
    /* All cards are shown; one entry more that is valid names one of them again. */
    char entry[64] = "";
    variable += strspn(variable, " \t");
    size_t length = strcspn(variable, ", \t");
    if (length < sizeof entry) {
        memcpy(entry, variable, length);
        if (entry_place(entry, order) >= 0)
            machine.shown = 0;
    }
}

static void configure(void) {
    memset(&machine, 0, sizeof machine);
    /* Without the variable there is no GPU: a process that wasn't told of a simulation must not see one. */
    size_t cards = number("TFMEMLINT_SIM_GPUS", 0, 0);
    machine.cards = cards > MAX_CARDS ? MAX_CARDS : (int)cards;
    machine.context = number("TFMEMLINT_SIM_CONTEXT_MIB", 0, 0) * MIB;
    for (int index = 0; index < machine.cards; index++) {
        struct card *card = &machine.card[index];
        card->total = number("TFMEMLINT_SIM_MEMORY_MIB", index, 16384) * MIB;
        card->others = number("TFMEMLINT_SIM_USED_MIB", index, 300) * MIB;
        if (card->others > card->total)
            card->others = card->total;
        char capability[16];
        word("TFMEMLINT_SIM_CAPABILITY", index, capability, sizeof capability);
        if (sscanf(capability, "%d.%d", &card->major, &card->minor) != 2) {
            card->major = 9;
            card->minor = 0;
        }
        snprintf(card->name, sizeof card->name, "Simulated GPU %d", index);
        read_uuid(card, index);
    }
}

const struct machine *sim_machine(void) {
    if (__atomic_load_n(&configured, __ATOMIC_ACQUIRE))
        return &machine;
    pthread_mutex_lock(&lock);
    if (!configured) {
        configure();
        __atomic_store_n(&configured, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return &machine;
}

const struct machine *sim_cuda(void) {
    sim_machine();
    if (__atomic_load_n(&started_by, __ATOMIC_ACQUIRE))
        return &machine;
    pthread_mutex_lock(&lock);
    if (!started_by) {
        choose_shown();
        for (int device = 0; device < machine.shown; device++) {
            const struct card *card = &machine.card[machine.card_of[device]];
            sim_log("gpu %d %d %zu %zu", device, machine.card_of[device], card->total, card->others);
        }
        __atomic_store_n(&started_by, getpid(), __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return &machine;
}

int sim_forked(void) { return started_by && started_by != getpid(); }

/* Card 0 sits on bus 1, and so on. */
void sim_pci_bus_id(int card, char *text, size_t size) { snprintf(text, size, "0000:%02X:00.0", card + 1); }

int sim_card_by_pci_bus_id(const char *text) {
    unsigned domain = 0, bus = 0, device = 0;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &device) < 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &device) != 2)
            return -1;
    }
    if (domain || device || bus < 1 || bus > (unsigned)sim_machine()->cards)
        return -1;
    return (int)bus - 1;
}
