/*
 * wasm.c - what a WebAssembly host calls beside the C API, which is exported as it is: the five policies by their number (see
 * any.h), with what a call takes and gives in the module's memory. A host has no other way to hand over a structure.
 */
#include "../../../any.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

extern unsigned char __heap_base;

/* What a call reads and writes. The host finds it by weir_wasm_desk; its fields are 64 bits wide, one after the other. */
static struct {
    weir_limit limit;
    uint64_t now, key, cost, cost2;
    uint64_t outcome, binding, remaining, retry_after, reset_after, delay, next;
    uint64_t freed, done;
} desk;

void *EXPORT(weir_wasm_desk)(void);
void *EXPORT(weir_wasm_block)(void);
uint32_t EXPORT(weir_wasm_size)(int kind, uint64_t max_keys, size_t *bytes);
uint32_t EXPORT(weir_wasm_init)(int kind, size_t bytes, uint64_t max_keys, uint64_t seed);
void EXPORT(weir_wasm_ask)(int kind, int spend);
uint32_t EXPORT(weir_wasm_refund)(int kind);
void EXPORT(weir_wasm_forget)(int kind);
void EXPORT(weir_wasm_sweep)(int kind, uint64_t slots);
uint32_t EXPORT(weir_wasm_relimit)(int kind);
uint64_t EXPORT(weir_wasm_keys)(int kind);
uint64_t EXPORT(weir_wasm_horizon)(int kind);
void EXPORT(weir_wasm_limit)(int kind);

void *weir_wasm_desk(void)
{
    return &desk;
}

/* Where the one table of this instance is: from the end of everything else to the end of memory, aligned. */
void *weir_wasm_block(void)
{
    return (void *)(((uintptr_t)&__heap_base + WEIR_ALIGN - 1) / WEIR_ALIGN * WEIR_ALIGN);
}

static uint64_t *block(void)
{
    return (uint64_t *)weir_wasm_block();
}

/* The bytes of a table of the desk's limit go to where bytes leads: the block, which is not yet in use. */
uint32_t weir_wasm_size(int kind, uint64_t max_keys, size_t *bytes)
{
    return weir_any_size(kind, desk.limit, max_keys, bytes);
}

uint32_t weir_wasm_init(int kind, size_t bytes, uint64_t max_keys, uint64_t seed)
{
    return weir_any_init(kind, block(), bytes, desk.limit, max_keys, seed);
}

void weir_wasm_ask(int kind, int spend)
{
    const weir_any_request r = {desk.now, desk.key, {desk.cost, desk.cost2}};
    const weir_any_answer a = weir_any_ask(kind, block(), &r, spend != 0);

    desk.outcome = a.answer.outcome;
    desk.binding = a.answer.binding;
    desk.remaining = a.answer.remaining;
    desk.retry_after = a.answer.retry_after;
    desk.reset_after = a.answer.reset_after;
    desk.delay = a.answer.delay;
    desk.next = a.next;
}

uint32_t weir_wasm_refund(int kind)
{
    return weir_any_refund(kind, block(), desk.now, desk.key, desk.cost, desk.cost2);
}

void weir_wasm_forget(int kind)
{
    weir_any_forget(kind, block(), desk.key);
}

void weir_wasm_sweep(int kind, uint64_t slots)
{
    const weir_any_swept swept = weir_any_sweep(kind, block(), desk.now, slots);

    desk.freed = swept.freed;
    desk.done = swept.done;
}

uint32_t weir_wasm_relimit(int kind)
{
    return weir_any_relimit(kind, block(), desk.now, desk.limit);
}

uint64_t weir_wasm_keys(int kind)
{
    return weir_any_keys(kind, block());
}

uint64_t weir_wasm_horizon(int kind)
{
    return weir_any_horizon(kind, block());
}

void weir_wasm_limit(int kind)
{
    desk.limit = weir_any_limit(kind, block());
}
