/* Intercepts the file operations of a process (LD_PRELOAD): counts completed syncs of journals, and fails on request.
 *
 * The file named by EVERSTEP_SHIM contains five numbers, which the test reads and writes:
 *   0: completed syncs of files named *.jnl      1: non-zero: syncs of them fail with this error
 *   2: non-zero: writes to them fail with this error      3: attempted syncs of them
 *   4: non-zero: writes to files in a folder "tables" fail with this error
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static volatile uint64_t *shared;

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("EVERSTEP_SHIM");
    if (!path) return;
    int fd = open(path, O_RDWR);
    if (fd < 0) abort();
    void *at = mmap(NULL, 40, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) abort();
    shared = at;
    close(fd);
}

static int path_of(int fd, char path[4096]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int is_journal(int fd) {
    char path[4096];
    if (!path_of(fd, path)) return 0;
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".jnl") == 0;
}

static int is_table(int fd) {
    char path[4096];
    return path_of(fd, path) && strstr(path, "/tables/");
}

static int sync_through(int fd, const char *name) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (!shared || !is_journal(fd)) return real(fd);
    __atomic_add_fetch(&shared[3], 1, __ATOMIC_SEQ_CST);
    if (shared[1]) {
        errno = (int)shared[1];
        return -1;
    }
    int result = real(fd);
    if (result == 0) __atomic_add_fetch(&shared[0], 1, __ATOMIC_SEQ_CST);
    return result;
}

int fsync(int fd) { return sync_through(fd, "fsync"); }

int fdatasync(int fd) { return sync_through(fd, "fdatasync"); }

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (shared && shared[2] && is_journal(fd)) {
        errno = (int)shared[2];
        return -1;
    }
    if (shared && shared[4] && is_table(fd)) {
        errno = (int)shared[4];
        return -1;
    }
    return real(fd, bytes, length);
}
