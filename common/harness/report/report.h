/* report.h: what was seen, as rows in files and as tables on the screen. */
#pragma once

#include "harness/time/timing.h"
#include "harness/verify/verify.h"

/* --- row.c, record.c, table.c ----------------------------------------------------------------- */
typedef struct kf_row {
    const char *step, *variant, *case_name, *status;
    kf_shape shape;
    enum kf_dtype dtype;
    const kf_timing *timing; /* NULL: verification only */
    kf_stat stat;
    bool has_ratio;
    kf_cost cost;
    int64_t device_bytes;
    kf_limit limit;
    bool verified; /* the counts below mean something */
    int64_t wrong, nonfinite, total;
    double max_err, err_bound, max_ratio;
} kf_row;
/* The status of a variant that is right, and whose time cannot be that of its work. */
#define KF_IMPOSSIBLE "impossible"
enum { KF_COLUMNS = 33 };
extern const char *const kf_column_name[KF_COLUMNS];
void kf_row_cells(const kf_row *row, char cell[KF_COLUMNS][KF_CELL]);
char *kf_row_columns(void); /* the names, with tabs between */
char *kf_rows_text(const kf_row *rows, int n);
/* The header lines every recorded file begins with, each ending in a newline. */
char *kf_record_header(const kf_device *device, const char *program, uint64_t seed);
/* Opens --out. The header becomes the record's own. */
void kf_record_open(const char *path, char *header);
/* To be called before rows are appended. Refuses a file with other columns or another origin
 * (exit 2). */
void kf_record_columns(const char *names);
/* n rows, a line each: all or none; a full disk: a line, exit 1. */
void kf_record_append(const char *text, int n);
/* Before and after a launch: nobody but the harness, and programs of other steps, writes to --out.
 */
int64_t kf_record_size(void); /* bytes; -1: no --out, or no plain file */
void kf_record_compare(int64_t size, const char *step);
void kf_record_close(void);
/* A file of all cases is PATH.new, and gets its name when it is closed. header and columns may be
 * NULL. may_be_device: a pipe or a device is written as it is, else refused. */
FILE *kf_table_open(const char *option, const char *path, const char *header, const char *columns,
                    bool may_be_device);
void kf_table_close(const char *option, const char *path, FILE *to);
void kf_table_drop(const char *path, FILE *to); /* no file: what has the name stays */
bool kf_cell_is_text(int column);
void kf_json_print(const kf_row *rows, int n);
void kf_table_print(const kf_row *rows, int n);
/* The rows of a case of which there is nothing else to say, in a table of such cases. begins: with
 * the names of its columns. */
void kf_table_go_on(const kf_program *program, const kf_row *rows, int n, bool begins);

/* --- counts.c --------------------------------------------------------------------------------- */
/* Round each launch of a variant. In a program that does not count they do nothing. */
void kf_counts_begin(void);
void kf_counts_take(const kf_run *run, const char *variant, bool print, bool by_line);
char *kf_counts_header(const kf_device *device, const char *program, uint64_t seed);
void kf_counts_finish(const char *step, bool json); /* writes the rows */

/* --- tune.c ----------------------------------------------------------------------------------- */
typedef struct kf_choice {
    const kf_row *rows; /* those of the case */
    int n;
    const kf_row *best;
    const kf_row *second,
        *first; /* first: its part's first variant. NULL if there is none, or it may not win */
    const kf_row *half, *again; /* the choices by the first and by the second half of the rounds */
    const kf_row *far;          /* of those that win at other lengths the slowest here, or NULL */
    int far_Sk;                 /* where it wins */
    int candidates, refused;
} kf_choice;
/* From the rows of all cases, the rows of a case together; a variant that is wrong in one case
 * becomes wrong in all. choices [n]; returns their number: one for each case and part that has a
 * variant that may win. */
int kf_choose(kf_row *rows, int n, const kf_program *program, const kf_timing *timing,
              kf_choice *choices);
void kf_choices_print(const kf_choice *choices, int n);
extern const char kf_choice_columns[];
void kf_choices_write(FILE *to, const kf_choice *choices, int n);
bool kf_tuned_read(const char *path, const char *device, const kf_shape *shape, const char *part,
                   char *variant, size_t size);
