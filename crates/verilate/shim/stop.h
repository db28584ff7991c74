// Included before everything else in each file of Verilator's runtime: the functions that stop.cpp replaces.
#ifndef RECONVERGE_STOP_H_
#define RECONVERGE_STOP_H_

#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
#define VL_PRINTF rcv_printf

__attribute__((format(printf, 1, 2))) int rcv_printf(const char *format, ...);

#endif  // RECONVERGE_STOP_H_
