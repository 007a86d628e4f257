/*
 * start.c - all that stands between a Cortex-M and main: the vector table, the reset, and semihosting, by which a debugger
 * (here qemu) writes and ends the program for it. A fault says so and ends the program with a failure.
 */
#include <stdint.h>

#include "start.h"

enum { SYS_WRITE0 = 0x04, SYS_EXIT = 0x18 };

/* What SYS_EXIT is told: qemu ends with status 0 for the first and 1 for the second. */
enum { STOPPED_WELL = 0x20026, STOPPED_BADLY = 0x20023 };

extern uint64_t data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
extern const uint64_t data_image[];

int main(void);

static void semihost(uint32_t operation, uint32_t with)
{
    register uint32_t r0 __asm__("r0") = operation;
    register uint32_t r1 __asm__("r1") = with;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void machine_write(const char *text)
{
    semihost(SYS_WRITE0, (uint32_t)(uintptr_t)text);
}

void machine_exit(int failed)
{
    for (;;) {
        semihost(SYS_EXIT, failed ? STOPPED_BADLY : STOPPED_WELL);
    }
}

/* Where the processor begins: fills .data, clears .bss, and runs main. */
void reset(void)
{
    uint64_t *to;
    const uint64_t *from = data_image;

    for (to = data_begin; to < data_end; to++) {
        *to = *from++;
    }
    for (to = bss_begin; to < bss_end; to++) {
        *to = 0;
    }
    machine_exit(main());
}

static void fault(void)
{
    machine_write("FAULT\n");
    machine_exit(1);
}

/* The first 16 words of memory: the stack, the reset, and every exception of the processor's own. */
__attribute__((section(".vectors"), used)) static const struct {
    const uint64_t *stack;
    void (*exception[15])(void);
} vectors = {
    stack_top,
    {reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault},
};
