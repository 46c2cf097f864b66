/* findings.c: what --check found in each launch, whether it is what the variant predicts, and the
 * last line, which says it of all launches. */
#include "harness/run/run.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_RULES = 32 };
static char rule[MOST_RULES][KF_CELL]; /* those that were broken */
static int n_rules, findings, as_predicted, missing;
static bool printed[KF_MAX_CHOICES]; /* the variant's findings, or that no checker sees it */

/* The rule of a line, which begins with its name. */
static void note_rule(const char *line)
{
    char name[KF_CELL];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, ":"), line);
    for (int i = 0; i < n_rules; i++)
        if (strcmp(rule[i], name) == 0)
            return;
    if (n_rules < MOST_RULES && kf_is_finding(name))
        memcpy(rule[n_rules++], name, sizeof name);
}

bool kf_judge_findings(kf_session *s, const kf_run *run, int v, int64_t wrong)
{
    const kf_variant *variant = &s->program->variants[v];
    const char *must = variant->finding;
    kf_findings found = kf_take_findings(must);
    bool right = must ? found.of_class > 0 && found.all == found.of_class : found.all == 0;
    bool shortly = right && printed[v] && !s->options.verbose;
    findings += found.all;
    as_predicted += right ? found.all : 0;
    if (found.all > 0 && !shortly)
        kf_say("  variant %s: %d finding%s%s\n", variant->name, found.all,
               found.all == 1 ? "" : "s", right ? ", as predicted" : "");
    for (char *line = strtok(found.text, "\n"); line; line = strtok(NULL, "\n")) {
        note_rule(line);
        if (!shortly || found.all == 0)
            kf_say("    %s\n", line);
    }
    if (!right && must && found.of_class == 0)
        kf_complain("variant %s, case %s: no %s is found, and this variant has one", variant->name,
                    run->c->name, must);
    else if (!right)
        kf_complain("variant %s, case %s: %d finding%s%s%s", variant->name, run->c->name, found.all,
                    found.all == 1 ? "" : "s", must ? ", not all of them a " : "",
                    must ? must : ", see above");
    else if (variant->predicted && found.all == 0 && wrong > 0 && !shortly)
        kf_say("  variant %s (%s): values wrong, accesses right: no checker sees it\n",
               variant->name, variant->about);
    printed[v] |= right && (found.all > 0 || wrong > 0);
    missing += !right && must && found.of_class == 0;
    free(found.text);
    return right;
}

void kf_findings_end(const kf_session *s)
{
    const bool all = findings == as_predicted && !missing;
    if (findings == 0)
        kf_say("check: no findings%s", missing ? ", NOT as predicted" : "");
    else if (findings == 1)
        kf_say("check: 1 finding%s", all ? ", as predicted" : "");
    else
        kf_say("check: %d findings of %d rule%s", findings, n_rules, n_rules == 1 ? "" : "s");
    if (findings > 1 && as_predicted > 0)
        kf_say(all ? ", as predicted" : ", %d of them as predicted", as_predicted);
    for (int i = 0; i < n_rules; i++)
        kf_say("%s%s", i ? ", " : ": ", rule[i]);
    kf_say("%s\n", all && s->wrong ? "; results are wrong, see above" : "");
}
