/* record.c: rows in a file of tab-separated values. All rows of a case are appended by one write,
 * or none: a full disk or an interruption leaves what was there before, whole. */
#define _DEFAULT_SOURCE
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static char *header;
static int file = -1;

/* Keys that say where figures come from: a file holds rows of one origin. */
static const char *const origin[] = {"device", "backend", "compute", "driver", "toolkit", "commit"};

char *kf_record_header(const kf_device *device, const char *program, uint64_t seed)
{
    char *text = kf_alloc(4096, 1), date[32];
    time_t now = time(NULL);
    struct tm parts;
    const char *commit = getenv("KF_COMMIT");
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    snprintf(text, 4096,
             "# device: %s\n# backend: %s\n# compute: %s\n# driver: %s\n# toolkit: %s\n"
             "# commit: %s\n# date: %s\n# seed: %llu\n# program: %s\n",
             device->name, kf_on_cpu() ? "cpu" : "cuda", device->compute, device->driver,
             device->toolkit, commit && *commit ? commit : "unknown", date,
             (unsigned long long)seed, program);
    return text;
}

static void value_of(const char *text, const char *key, char *value, size_t size)
{
    char prefix[64];
    int length = snprintf(prefix, sizeof prefix, "# %s: ", key);
    const char *found = strstr(text, prefix);
    snprintf(value, size, "%.*s", found ? (int)strcspn(found + length, "\n") : 0,
             found ? found + length : "");
}

static void columns_line(char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < KF_COLUMNS; i++) {
        size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%s", i ? "\t" : "", kf_column_name[i]);
    }
}

static void check_existing(const char *old)
{
    char columns[1024], have[256], want[256];
    columns_line(columns, sizeof columns);
    const char *line = old;
    while (*line == '#' && strchr(line, '\n'))
        line = strchr(line, '\n') + 1;
    if (strncmp(line, columns, strlen(columns)) != 0 || line[strlen(columns)] != '\n')
        kf_die(KF_USAGE,
               "--out %s: its column names are not those of this program; name a new file", path);
    for (size_t i = 0; i < sizeof origin / sizeof *origin; i++) {
        value_of(old, origin[i], have, sizeof have);
        value_of(header, origin[i], want, sizeof want);
        if (strcmp(have, want) != 0)
            kf_die(KF_USAGE,
                   "--out %s: holds rows with %s \"%s\", these would have \"%s\"; "
                   "name a new file",
                   path, origin[i], have, want);
    }
}

void kf_record_open(const char *name, const kf_device *device, const char *program, uint64_t seed)
{
    path = name;
    header = kf_record_header(device, program, seed);
    file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        kf_die(KF_USAGE, "--out %s: %s; name a file in a folder that can be written", path,
               strerror(errno));
    char *old = kf_alloc(8192, 1);
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && pread(file, old, 8191, 0) > 0)
        check_existing(old);
    free(old);
}

static bool write_whole(const char *text, size_t length)
{
    ssize_t written = write(file, text, length);
    if (written >= 0 && (size_t)written < length)
        errno = ENOSPC; /* a short write: the next one would say so */
    bool whole = written == (ssize_t)length;
    if (whole && fsync(file) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        whole = false; /* EINVAL: a pipe or a device, which cannot be synchronised */
    return whole;
}

static char *rows_text(const kf_row *rows, int n, bool with_header)
{
    size_t size = 8192 + (size_t)n * KF_COLUMNS * KF_CELL;
    char *text = kf_alloc((int64_t)size, 1), *at = text;
    if (with_header) {
        at = stpcpy(at, header);
        columns_line(at, 1024);
        at = stpcpy(at + strlen(at), "\n");
    }
    for (int r = 0; r < n; r++) {
        char cell[KF_COLUMNS][KF_CELL];
        kf_row_cells(&rows[r], cell);
        for (int i = 0; i < KF_COLUMNS; i++) {
            at = stpcpy(at, cell[i]);
            *at++ = i + 1 < KF_COLUMNS ? '\t' : '\n';
        }
    }
    *at = '\0';
    return text;
}

void kf_record_append(const kf_row *rows, int n)
{
    if (file < 0 || n == 0)
        return;
    struct stat status;
    kf_hold_interrupts(true);
    flock(file, LOCK_EX); /* against another program that appends to the same file */
    bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    char *text = rows_text(rows, n, regular && status.st_size == 0);
    bool whole = write_whole(text, strlen(text));
    int error = errno;
    if (!whole && regular && ftruncate(file, status.st_size) != 0)
        kf_complain("--out %s: and a partial row could not be removed: %s", path, strerror(errno));
    flock(file, LOCK_UN);
    free(text);
    kf_hold_interrupts(false);
    if (!whole)
        kf_die(KF_WRONG, "--out %s: %s; the rows of this case are not recorded, earlier ones stay",
               path, strerror(error));
}

void kf_record_close(void)
{
    if (file >= 0)
        close(file);
    free(header);
    file = -1;
}
