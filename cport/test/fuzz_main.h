/* fuzz_main.h - runs fuzz.c without libFuzzer: on files, or on programs that are drawn, the same ones every time. */

static uint8_t program[4096];

static int run_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    size_t size;

    if (f == NULL) {
        perror(name);
        return 1;
    }
    size = fread(program, 1, sizeof program, f);
    (void)fclose(f);
    return LLVMFuzzerTestOneInput(program, size);
}

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

int main(int argc, char **argv)
{
    uint64_t state = 1, i;
    int status = 0;

    if (argc > 1) {
        for (i = 1; i < (uint64_t)argc; i++) {
            status |= run_file(argv[i]);
        }
        return status;
    }
    for (i = 0; i < FUZZ_MAIN; i++) {
        const size_t size = (size_t)(draw(&state) % (i % 16 == 0 ? sizeof program : 256));
        size_t at;
        for (at = 0; at < size; at++) {
            program[at] = (uint8_t)draw(&state);
        }
        (void)LLVMFuzzerTestOneInput(program, size);
    }
    printf("%lu programs\n", (unsigned long)FUZZ_MAIN);
    return 0;
}
