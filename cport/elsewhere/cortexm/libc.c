/*
 * libc.c - the few functions of a libc that test/vectors_main.c calls, for a machine that has none. printf knows %s, %lu and
 * %llu, with a width and '-', and says "?" to anything else. A line longer than LINE is cut.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "start.h"

#define LINE 512

__attribute__((section(".arena"))) static uint64_t arena[ARENA / sizeof(uint64_t)];
static bool taken;

void *malloc(size_t bytes)
{
    if (taken || bytes > sizeof arena) {
        return NULL;
    }
    taken = true;
    return arena;
}

void free(void *block)
{
    if (block != NULL) {
        taken = false;
    }
}

int strcmp(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

void *memcpy(void *to, const void *from, size_t bytes)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;

    while (bytes-- > 0) {
        *t++ = *f++;
    }
    return to;
}

void *memset(void *to, int with, size_t bytes)
{
    unsigned char *t = (unsigned char *)to;

    while (bytes-- > 0) {
        *t++ = (unsigned char)with;
    }
    return to;
}

/* Text that is being made: at most room bytes, its end included. */
typedef struct text {
    char *to;
    size_t room, length;
} text;

static void add(text *t, char c)
{
    if (t->length + 1 < t->room) {
        t->to[t->length] = c;
        t->to[t->length + 1] = 0;
    }
    t->length++;
}

/* A word in a field of a width. */
static void add_field(text *t, const char *word, size_t width, bool left)
{
    size_t length = 0, i;

    while (word[length] != 0) {
        length++;
    }
    for (i = length; i < width && !left; i++) {
        add(t, ' ');
    }
    for (i = 0; i < length; i++) {
        add(t, word[i]);
    }
    for (i = length; i < width && left; i++) {
        add(t, ' ');
    }
}

/* The digits of n, in the 24 bytes of digits. */
static const char *decimal(uint64_t n, char digits[24])
{
    char *at = digits + 23;

    *at = 0;
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return at;
}

static void add_format(text *t, const char *format, va_list arguments)
{
    char digits[24];

    for (; *format != 0; format++) {
        size_t width = 0;
        bool left = false;
        if (*format != '%') {
            add(t, *format);
            continue;
        }
        format++;
        if (*format == '-') {
            left = true;
            format++;
        }
        for (; *format >= '0' && *format <= '9'; format++) {
            width = width * 10 + (size_t)(*format - '0');
        }
        if (*format == 's') {
            add_field(t, va_arg(arguments, const char *), width, left);
        } else if (format[0] == 'l' && format[1] == 'u') {
            add_field(t, decimal(va_arg(arguments, unsigned long), digits), width, left);
            format++;
        } else if (format[0] == 'l' && format[1] == 'l' && format[2] == 'u') {
            add_field(t, decimal(va_arg(arguments, unsigned long long), digits), width, left);
            format += 2;
        } else {
            add(t, '?');
        }
    }
}

int snprintf(char *to, size_t bytes, const char *format, ...)
{
    text t = {to, bytes, 0};
    va_list arguments;

    va_start(arguments, format);
    add_format(&t, format, arguments);
    va_end(arguments);
    return (int)t.length;
}

int printf(const char *format, ...)
{
    char line[LINE] = {0};
    text t = {line, sizeof line, 0};
    va_list arguments;

    va_start(arguments, format);
    add_format(&t, format, arguments);
    va_end(arguments);
    machine_write(line);
    return (int)t.length;
}

int puts(const char *line)
{
    machine_write(line);
    machine_write("\n");
    return 0;
}
