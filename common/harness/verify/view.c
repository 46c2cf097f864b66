/* view.c: what a launcher sees of a run. It gets the case, the shape and the tensors on the device.
 * The seed, the references, their bounds, the rows that are checked and the host's values stay with
 * the harness: where a launcher's tensor would have them is memory that nobody may read. */
#define _DEFAULT_SOURCE
#include "harness/verify/verify.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HOST, WANT, BOUND, CHECKED, SECRETS };
static const char *const secret[SECRETS] = {"the values of an input on the host",
                                            "the reference of an output", "the bounds of an output",
                                            "the list of the rows that are checked"};
static const size_t EACH = (size_t)1 << 34; /* bytes: more than any tensor has on a host */

/* Addresses without memory, EACH for each secret; NULL where the system gives none. */
static char *forbidden(void)
{
    static char *addresses;
    static bool tried;
    if (tried)
        return addresses;
    tried = true;
    void *found =
        mmap(NULL, SECRETS * EACH, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    addresses = found == MAP_FAILED ? NULL : found;
    return addresses;
}

static void *instead_of(const void *value, int which)
{
    char *addresses = forbidden();
    return value && addresses ? addresses + (size_t)which * EACH : NULL;
}

const kf_run *kf_view(const kf_run *run)
{
    kf_state *state = run->state;
    if (!state->shown)
        state->shown = kf_alloc(1, sizeof *state->shown);
    state->shown->program = state->program;
    state->shown->n = state->n;
    for (int i = 0; i < state->n; i++) {
        kf_tensor *t = &state->shown->slot[i].t;
        *t = state->slot[i].t;
        t->host = instead_of(t->host, HOST);
        t->want = instead_of(t->want, WANT);
        t->bound = instead_of(t->bound, BOUND);
        t->checked = instead_of(t->checked, CHECKED);
    }
    state->view =
        (kf_run){.c = run->c, .shape = run->shape, .memory = run->memory, .state = state->shown};
    return &state->view;
}

static struct sigaction before;

static void put(const char *text)
{
    ssize_t said = write(STDERR_FILENO, text, strlen(text));
    (void)said; /* nothing can be done when it fails */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const size_t at = (size_t)((char *)info->si_addr - forbidden());
    if (forbidden() && at < SECRETS * EACH) {
        put(kf_program_name());
        put(": ");
        put(kf_doing_now());
        put("the launcher uses ");
        put(secret[at / EACH]);
        put("; a launcher gets the tensors on the device, and nothing to compare with\n");
        _exit(KF_WRONG);
    }
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        sigaction(number, &before, NULL); /* it happens again, as if nobody had looked */
}

void kf_forbid(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGSEGV, &action, &before);
}
