/* record.c: rows in a file of tab-separated values. All rows of a case are appended by one write,
 * or none: a full disk or an interruption leaves what was there before, whole. Any other file takes
 * the place of an older one when it is whole. */
#define _DEFAULT_SOURCE
#include "harness/report/report.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The program's --out. */
static const char *path;
static char *header, *columns;
static int file = -1;

/* Header lines that all rows of a file must share. */
static const char *const origin[] = {"device",  "backend", "compute", "driver",
                                     "toolkit", "commit",  "compiler"};

char *kf_record_header(const kf_device *device, const char *program, uint64_t seed)
{
    char date[32];
    time_t now = time(NULL);
    struct tm parts;
    const char *commit = getenv("KF_COMMIT");
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    return kf_text("# device: %s\n# backend: %s\n# compute: %s\n# driver: %s\n# toolkit: %s\n"
                   "# commit: %s\n# date: %s\n# seed: %llu\n# program: %s\n",
                   device->name, kf_on_cpu() ? "cpu" : "cuda", device->compute, device->driver,
                   device->toolkit, commit && *commit ? commit : "unknown", date,
                   (unsigned long long)seed, program);
}

static void value_of(const char *text, const char *key, char *value, size_t size)
{
    char prefix[64];
    int length = snprintf(prefix, sizeof prefix, "# %s: ", key);
    const char *found = strstr(text, prefix);
    snprintf(value, size, "%.*s", found ? (int)strcspn(found + length, "\n") : 0,
             found ? found + length : "");
}

static void check_existing(const char *old)
{
    char have[256], want[256];
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

void kf_record_open(const char *name, char *own_header)
{
    path = name;
    header = own_header;
    file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        kf_die(KF_USAGE, "--out %s: %s; name a file in a folder that can be written", path,
               strerror(errno));
}

void kf_record_columns(const char *names)
{
    enum { MOST = 8191 }; /* the lines that are compared stand at the top */
    if (file < 0)
        return;
    columns = kf_alloc((int64_t)strlen(names) + 1, 1);
    stpcpy(columns, names);
    char *old = kf_alloc(MOST + 1, 1);
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && pread(file, old, MOST, 0) > 0)
        check_existing(old);
    free(old);
}

static bool write_whole(const char *text, size_t length)
{
    ssize_t written = write(file, text, length);
    if (written >= 0 && (size_t)written < length)
        errno = ENOSPC; /* a short write: the disk is full */
    bool whole = written == (ssize_t)length;
    if (whole && fsync(file) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        whole = false; /* EINVAL: a pipe or a device, which cannot be synchronised */
    return whole;
}

void kf_record_append(const char *rows, int n)
{
    if (file < 0 || n == 0)
        return;
    struct stat status;
    char *text = kf_alloc((int64_t)(strlen(header) + strlen(columns) + strlen(rows)) + 2, 1);
    kf_hold_interrupts(true);
    flock(file, LOCK_EX); /* against another program that appends to the same file */
    bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    bool fresh = regular && status.st_size == 0;
    stpcpy(fresh ? stpcpy(stpcpy(stpcpy(text, header), columns), "\n") : text, rows);
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

int64_t kf_record_size(void)
{
    struct stat status;
    bool regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    return regular ? (int64_t)status.st_size : -1;
}

/* Whether each line is a row of another step, which another program may have appended. */
static bool all_of_others(const char *text, const char *step)
{
    const size_t length = strlen(step);
    while (*text) {
        const char *end = strchr(text, '\n');
        int cells = 1;
        for (const char *at = text; *at && *at != '\n'; at++)
            cells += *at == '\t';
        if (!end || cells != KF_COLUMNS || (!strncmp(text, step, length) && text[length] == '\t'))
            return false;
        text = end + 1;
    }
    return true;
}

void kf_record_compare(int64_t size, const char *step)
{
    int64_t more = kf_record_size() - size;
    if (size < 0 || more == 0)
        return;
    char *text = kf_alloc(more > 0 ? more + 1 : 1, 1);
    bool good = more > 0 && pread(file, text, (size_t)more, (off_t)size) == (ssize_t)more &&
                all_of_others(text, step);
    free(text);
    if (!good)
        kf_die(KF_WRONG,
               "%s--out %s: it was written to during a launch; its rows are the harness's, and "
               "these are no measurement",
               kf_doing_now(), path);
}

void kf_record_close(void)
{
    if (file >= 0)
        close(file);
    free(header);
    free(columns);
    file = -1;
}

/* --- A file that is whole or not there ------------------------------------------------------- */

FILE *kf_table_open(const char *option, const char *name, const char *lines, const char *names,
                    bool may_be_device)
{
    struct stat status;
    bool exists = (may_be_device ? lstat(name, &status) : stat(name, &status)) == 0;
    bool device = exists && !S_ISREG(status.st_mode); /* or a link, such as /dev/stdout */
    if (device && !may_be_device)
        kf_die(KF_USAGE, "--%s %s: a folder or a device; a file that can be written is right",
               option, name);
    char *other = kf_text(device ? "%s" : "%s.new", name);
    FILE *to = fopen(other, "w");
    if (!to)
        kf_die(KF_USAGE, "--%s %s: %s; name a file in a folder that can be written", option, name,
               strerror(errno));
    fprintf(to, "%s%s%s", lines ? lines : "", names ? names : "", names ? "\n" : "");
    free(other);
    return to;
}

void kf_table_close(const char *option, const char *name, FILE *to)
{
    struct stat written, found;
    char *other = kf_text("%s.new", name);
    bool is_new = fstat(fileno(to), &written) == 0 && stat(other, &found) == 0 &&
                  written.st_ino == found.st_ino && written.st_dev == found.st_dev;
    if (fflush(to) != 0 || ferror(to) || fclose(to) != 0 || (is_new && rename(other, name) != 0))
        kf_die(KF_WRONG, "--%s %s: %s; the file is not complete%s", option, name, strerror(errno),
               is_new ? ", an older one stays" : "");
    free(other);
}

void kf_table_drop(const char *name, FILE *to)
{
    char *other = kf_text("%s.new", name);
    fclose(to);
    unlink(other);
    free(other);
}
