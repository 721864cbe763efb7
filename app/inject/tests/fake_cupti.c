/* A CUPTI of a few lines, for the test beside it: on a forced flush it hands over one buffer with an allocation, a kernel, a
   copy and a kind of record that nobody knows, at the offsets of cupti_activity.h (CUDA 13.0). */
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <stdlib.h>

typedef void (*request_fn)(uint8_t **, size_t *, size_t *);
typedef void (*complete_fn)(void *, uint32_t, uint8_t *, size_t, size_t);
static request_fn request;
static complete_fn complete;
static const size_t SIZES[] = {128, 216, 96, 16};

int cuptiGetVersion(uint32_t *version) {
    const char *given = getenv("FAKE_CUPTI_VERSION");
    *version = given ? (uint32_t)atoi(given) : 130001;
    return 0;
}
int cuptiGetTimestamp(uint64_t *t) { *t = 1000000; return 0; }
int cuptiActivityEnable(uint32_t kind) { (void)kind; return getenv("FAKE_CUPTI_REFUSES") ? 999 : 0; }
int cuptiActivityRegisterCallbacks(request_fn r, complete_fn c) { request = r; complete = c; return 0; }
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n) {
    (void)context; (void)stream; *n = 3; return 0;
}
static void put32(uint8_t *at, uint32_t value) { memcpy(at, &value, 4); }
static void put64(uint8_t *at, uint64_t value) { memcpy(at, &value, 8); }

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t n_valid, uint8_t **record) {
    size_t at = 0;
    int next = 0;
    if (*record) {
        while (buffer + at != *record) at += SIZES[next++];
        at += SIZES[next++];
    }
    if (next > 3 || at >= n_valid) return 12; /* CUPTI_ERROR_MAX_LIMIT_REACHED */
    *record = buffer + at;
    return 0;
}

int cuptiActivityFlushAll(uint32_t flag) {
    uint8_t *buffer = NULL, *at;
    size_t size = 0, most = 0;
    if (!flag) return 0;
    request(&buffer, &size, &most);
    if (!buffer || size < 456) return 1;
    memset(buffer, 0, 456);
    at = buffer;
    put32(at, 49); put32(at + 4, 1); put32(at + 8, 3); put64(at + 16, 0x7f00); put64(at + 24, 2097152); put64(at + 32, 1000500);
    at += 128;
    put32(at, 10); put64(at + 16, 1001000); put64(at + 24, 1004000); put32(at + 48, 7);
    put64(at + 104, (uint64_t)(uintptr_t)"_Z4copyPKfPf");
    at += 216;
    put32(at, 1); at[4] = 1; put64(at + 8, 64); put64(at + 16, 1002000); put64(at + 24, 1002500);
    at += 96;
    put32(at, 200);
    complete(NULL, 0, buffer, size, 456);
    return 0;
}
