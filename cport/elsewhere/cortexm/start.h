/* start.h - what a machine without an operating system can do for a program. */
#ifndef WEIR_ELSEWHERE_START_H
#define WEIR_ELSEWHERE_START_H

void reset(void);

/* Writes a text to the debugger's console. */
void machine_write(const char *text);

/* Ends the program. */
_Noreturn void machine_exit(int failed);

#endif
