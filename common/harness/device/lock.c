/* lock.c: programs that run at the same time must not time each other's kernels. Verifying holds
 * the device's lock shared, timing holds it exclusively. The lock is a file in TMPDIR; the system
 * releases it when the program ends, however it ends. */
#define _DEFAULT_SOURCE
#include "harness/device/device.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The lock file, -1 before it is opened and -2 if it cannot be; and how it is locked now. */
static int file = -1;
static enum kf_lock held = KF_UNLOCKED;

static void open_file(void)
{
    const char *folder = getenv("TMPDIR");
    const kf_device *device = kf_open_device();
    char *path =
        kf_text("%s/kernel-fusion-%s.lock", folder && *folder ? folder : "/tmp", device->bus);
    file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
        file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC); /* another user's file: enough */
    if (file < 0) {
        kf_complain("no lock file %s (%s): times may be disturbed by other programs", path,
                    strerror(errno));
        file = -2;
    }
    free(path);
}

void kf_device_lock(enum kf_lock wanted)
{
    if (kf_on_cpu() || held == wanted)
        return;
    if (file == -1)
        open_file();
    if (file < 0)
        return;
    int operation = wanted == KF_EXCLUSIVE ? LOCK_EX : wanted == KF_SHARED ? LOCK_SH : LOCK_UN;
    if (wanted != KF_UNLOCKED && flock(file, operation | LOCK_NB) != 0) {
        kf_say("waiting for the device: another program is using it\n");
        while (flock(file, operation) != 0 && errno == EINTR) {
        }
    }
    if (wanted == KF_UNLOCKED)
        flock(file, LOCK_UN);
    held = wanted;
}
