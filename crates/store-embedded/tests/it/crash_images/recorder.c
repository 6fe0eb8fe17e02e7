/* Records all operations of a process on the files below one folder, in the order of their effect (LD_PRELOAD).
 *
 * EVERSTEP_RECORD_ROOT   the folder, an absolute path
 * EVERSTEP_RECORD_MARKS  a file outside of it: what is written there becomes a mark in the log
 * EVERSTEP_RECORD_LOG    the log: entries of
 *     kind u8, inode u64, number u64, length of path u32, length of data u32, path, data      native byte order
 *
 * One lock is held from before each call until it is recorded. Operations that this file does not know are not recorded;
 * the reader detects that, because the files that it rebuilds then differ from the real ones.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, CREATE, WRITE, TRUNCATE, SYNC_FILE, SYNC_FOLDER, RENAME, REMOVE, MAKE_FOLDER, MARK };

#define REAL(name) ((__typeof__(&name))real(#name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root, *marks;
static int log_fd = -1;

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

__attribute__((constructor)) static void attach(void) {
    const char *log = getenv("EVERSTEP_RECORD_LOG");
    root = getenv("EVERSTEP_RECORD_ROOT");
    marks = getenv("EVERSTEP_RECORD_MARKS");
    if (!log || !root || !marks) return;
    log_fd = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0) abort();
}

static void note(uint8_t kind, uint64_t inode, uint64_t number, const char *path, const void *data, size_t length) {
    struct __attribute__((packed)) { uint8_t kind; uint64_t inode, number; uint32_t path, data; } head =
        { kind, inode, number, path ? (uint32_t)strlen(path) : 0, (uint32_t)length };
    struct iovec parts[3] = {
        { &head, sizeof head }, { (void *)path, head.path }, { (void *)data, length },
    };
    ssize_t expected = (ssize_t)(sizeof head + head.path + length);
    if (REAL(writev)(log_fd, parts, 3) != expected) abort();
}

static int is_inside(const char *path) {
    size_t length = root ? strlen(root) : 0;
    return log_fd >= 0 && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int path_of(int fd, char path[4096]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

/* Returns the absolute path of a name relative to a directory descriptor. */
static int resolve(int folder, const char *name, char path[4096]) {
    char base[4096];
    if (name[0] == '/') return snprintf(path, 4096, "%s", name) < 4096;
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return 0;
    } else if (!path_of(folder, base)) {
        return 0;
    }
    return snprintf(path, 4096, "%s/%s", base, name) < 4096;
}

static int is_watched(int fd, char path[4096]) {
    return log_fd >= 0 && fd != log_fd && path_of(fd, path) && is_inside(path);
}

static uint64_t inode_of(int fd) {
    struct stat about;
    if (fstat(fd, &about)) abort();
    return about.st_ino;
}

static int open_through(int folder, const char *name, int flags, mode_t mode) {
    char path[4096];
    int (*call)(int, const char *, int, ...) = real("openat");
    if (log_fd < 0 || !resolve(folder, name, path) || !is_inside(path)) return call(folder, name, flags, mode);
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    pthread_mutex_lock(&lock);
    struct stat before, about;
    int existed = stat(path, &before) == 0;
    int fd = call(folder, name, flags, mode);
    int error = errno;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
        note(existed ? OPEN : CREATE, about.st_ino, 0, path, NULL, 0);
        if (existed && (flags & O_TRUNC)) note(TRUNCATE, about.st_ino, 0, NULL, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

#define OPENS(name, head, folder, path) \
    int name head { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return open_through(folder, path, flags, mode); \
    }
OPENS(open, (const char *path, int flags, ...), AT_FDCWD, path)
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD, path)
OPENS(openat, (int folder, const char *path, int flags, ...), folder, path)
OPENS(openat64, (int folder, const char *path, int flags, ...), folder, path)

/* Records a write of `done` bytes at `at`, or at the current position of the file if `at` is -1. */
static void wrote(int fd, const void *bytes, ssize_t done, off_t at) {
    if (at < 0) at = lseek(fd, 0, SEEK_CUR) - done;
    note(WRITE, inode_of(fd), (uint64_t)at, NULL, bytes, (size_t)done);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    char path[4096];
    if (log_fd < 0 || fd == log_fd || !path_of(fd, path)) return REAL(write)(fd, bytes, length);
    int is_mark = strcmp(path, marks) == 0;
    if (!is_mark && !is_inside(path)) return REAL(write)(fd, bytes, length);
    pthread_mutex_lock(&lock);
    ssize_t done = REAL(write)(fd, bytes, length);
    int error = errno;
    if (is_mark && done >= 0) note(MARK, 0, 0, NULL, bytes, (size_t)done);
    if (!is_mark && done > 0) wrote(fd, bytes, done, -1);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

static ssize_t pwrite_through(int fd, const void *bytes, size_t length, off_t at) {
    char path[4096];
    ssize_t (*call)(int, const void *, size_t, off_t) = real("pwrite64");
    if (!is_watched(fd, path)) return call(fd, bytes, length, at);
    pthread_mutex_lock(&lock);
    ssize_t done = call(fd, bytes, length, at);
    int error = errno;
    if (done > 0) wrote(fd, bytes, done, at);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return pwrite_through(fd, bytes, length, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) { return pwrite_through(fd, bytes, length, at); }

/* May write less than requested; the caller then writes the rest. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[4096];
    if (count < 1 || !is_watched(fd, path)) return REAL(writev)(fd, parts, count);
    int first = 0;
    while (first < count - 1 && parts[first].iov_len == 0) first++;
    return write(fd, parts[first].iov_base, parts[first].iov_len);
}

static int truncate_through(int fd, off_t length) {
    char path[4096];
    int (*call)(int, off_t) = real("ftruncate64");
    if (!is_watched(fd, path)) return call(fd, length);
    pthread_mutex_lock(&lock);
    int result = call(fd, length);
    int error = errno;
    if (result == 0) note(TRUNCATE, inode_of(fd), (uint64_t)length, NULL, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int ftruncate(int fd, off_t length) { return truncate_through(fd, length); }
int ftruncate64(int fd, off_t length) { return truncate_through(fd, length); }

static int sync_through(int fd, const char *name) {
    char path[4096];
    struct stat about;
    int (*call)(int) = real(name);
    if (!is_watched(fd, path) || fstat(fd, &about)) return call(fd);
    pthread_mutex_lock(&lock);
    int result = call(fd);
    int error = errno;
    if (result == 0) note(S_ISDIR(about.st_mode) ? SYNC_FOLDER : SYNC_FILE, about.st_ino, 0, path, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int fsync(int fd) { return sync_through(fd, "fsync"); }
int fdatasync(int fd) { return sync_through(fd, "fdatasync"); }

static int rename_through(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char from_path[4096], to_path[4096];
    int (*call)(int, const char *, int, const char *, unsigned) = real("renameat2");
    int known = log_fd >= 0 && resolve(from_folder, from, from_path) && resolve(to_folder, to, to_path);
    if (!known || (!is_inside(from_path) && !is_inside(to_path))) return call(from_folder, from, to_folder, to, flags);
    pthread_mutex_lock(&lock);
    int result = call(from_folder, from, to_folder, to, flags);
    int error = errno;
    if (result == 0) note(RENAME, 0, 0, from_path, to_path, strlen(to_path));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int rename(const char *from, const char *to) { return rename_through(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return rename_through(a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    return rename_through(a, from, b, to, flags);
}

static int remove_through(int folder, const char *name, int flags) {
    char path[4096];
    int (*call)(int, const char *, int) = real("unlinkat");
    if (log_fd < 0 || !resolve(folder, name, path) || !is_inside(path)) return call(folder, name, flags);
    pthread_mutex_lock(&lock);
    int result = call(folder, name, flags);
    int error = errno;
    if (result == 0) note(REMOVE, 0, 0, path, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int unlink(const char *path) { return remove_through(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return remove_through(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int folder, const char *path, int flags) { return remove_through(folder, path, flags); }

static int make_through(int folder, const char *name, mode_t mode) {
    char path[4096];
    int (*call)(int, const char *, mode_t) = real("mkdirat");
    if (log_fd < 0 || !resolve(folder, name, path) || !is_inside(path)) return call(folder, name, mode);
    pthread_mutex_lock(&lock);
    int result = call(folder, name, mode);
    int error = errno;
    if (result == 0) note(MAKE_FOLDER, 0, 0, path, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int mkdir(const char *path, mode_t mode) { return make_through(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return make_through(folder, path, mode); }
