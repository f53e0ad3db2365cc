/* Who holds how much of which card.
 *
 * With TFMEMLINT_SIM_STATE the book is a small file that all processes of the simulated machine map, so that they share
 * the cards' memory. A process is known by its number and the time it was started; what a process held that is no
 * longer there is struck out by whoever looks next, so that a crash leaves nothing behind. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim.h"

#define MAGIC 0x314d4953464d4654u /* "TFMFSIM1" */

struct entry {
    int64_t pid; /* 0: free */
    uint64_t started;
    uint64_t uses; /* one bit for every card with a context */
    uint64_t held[MAX_CARDS];
};

struct book {
    uint64_t magic;
    struct entry entry[MAX_PROCESSES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct book *book;
static int book_file = -1;

/* When a process was started, in clock ticks since the machine was; 0 where there is no such process. */
static uint64_t start_time(int64_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0)
        return 0;
    text[size] = 0;
    /* The name in parentheses may hold anything: fields are counted from its end. Field 3 is the state, 22 the time. */
    char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static void open_book(void) {
    const char *path = getenv("TFMEMLINT_SIM_STATE");
    if (path && *path) {
        book_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (book_file >= 0 && ftruncate(book_file, sizeof *book) == 0) {
            void *mapped = mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED, book_file, 0);
            book = mapped == MAP_FAILED ? NULL : mapped;
        }
        if (!book)
            fprintf(stderr, "tfmemlint: the state file %s can't be used: %m; GPU memory isn't shared\n", path);
    }
    if (!book) {
        if (book_file >= 0)
            close(book_file);
        book_file = -1;
        book = calloc(1, sizeof *book);
        if (!book)
            abort();
    }
}

static void enter(void) {
    pthread_mutex_lock(&lock);
    if (!book)
        open_book();
    if (book_file >= 0)
        flock(book_file, LOCK_EX);
    if (book->magic != MAGIC) {
        memset(book, 0, sizeof *book);
        book->magic = MAGIC;
    }
}

static void leave(void) {
    if (book_file >= 0)
        flock(book_file, LOCK_UN);
    pthread_mutex_unlock(&lock);
}

/* This process's entry; NULL where it has none and `make` is 0, or the book is full. */
static struct entry *own(int make) {
    int64_t pid = getpid();
    struct entry *empty = NULL;
    for (int index = 0; index < MAX_PROCESSES; index++) {
        struct entry *entry = &book->entry[index];
        if (entry->pid == pid && entry->started == start_time(pid))
            return entry;
        if (!empty && (!entry->pid || start_time(entry->pid) != entry->started))
            empty = entry;
    }
    if (!make || !empty)
        return NULL;
    memset(empty, 0, sizeof *empty);
    empty->started = start_time(pid);
    empty->pid = pid;
    return empty;
}

static int alive(struct entry *entry) {
    if (!entry->pid)
        return 0;
    if (start_time(entry->pid) == entry->started)
        return 1;
    memset(entry, 0, sizeof *entry);
    return 0;
}

static size_t free_bytes(int card) {
    const struct card *known = &sim_machine()->card[card];
    size_t used = known->others;
    for (int index = 0; index < MAX_PROCESSES; index++)
        if (book->entry[index].held[card] && alive(&book->entry[index]))
            used += book->entry[index].held[card];
    return used < known->total ? known->total - used : 0;
}

int ledger_take(int card, size_t bytes) {
    enter();
    struct entry *entry = own(1);
    int fits = entry && bytes <= free_bytes(card);
    if (fits) {
        entry->held[card] += bytes;
        entry->uses |= (uint64_t)1 << card;
    }
    leave();
    return fits;
}

void ledger_give(int card, size_t bytes) {
    enter();
    struct entry *entry = own(0);
    if (entry)
        entry->held[card] -= bytes < entry->held[card] ? bytes : entry->held[card];
    leave();
}

void ledger_context(int card) {
    enter();
    struct entry *entry = own(1);
    if (entry)
        entry->uses |= (uint64_t)1 << card;
    leave();
}

size_t ledger_held(int card) {
    enter();
    struct entry *entry = own(0);
    size_t held = entry ? entry->held[card] : 0;
    leave();
    return held;
}

size_t sim_free_bytes(int card) {
    const struct machine *machine = sim_machine();
    if (card < 0 || card >= machine->cards)
        return 0;
    enter();
    size_t bytes = free_bytes(card);
    leave();
    return bytes;
}

int sim_processes(int card, struct process_use *uses, int size) {
    int count = 0;
    enter();
    for (int index = 0; index < MAX_PROCESSES; index++) {
        struct entry *entry = &book->entry[index];
        if (!(entry->uses >> card & 1) || !alive(entry))
            continue;
        if (count < size)
            uses[count] = (struct process_use){(pid_t)entry->pid, entry->held[card]};
        count++;
    }
    leave();
    return count;
}
