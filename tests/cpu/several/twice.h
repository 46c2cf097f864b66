/* A program of three files: one kernel in each .cu file, the host's part in C. */
#ifdef __cplusplus
extern "C"
#endif
    int
    host_sum(const int *v, int n);
void launch_twice(int *p, int n);
