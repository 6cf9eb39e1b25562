// A library that has hooks of two functions of the C library.
#define TEST_EXPORT extern "C" __attribute__((visibility("default")))

TEST_EXPORT void kymo_heap_hooks_v1() {}
TEST_EXPORT void* pvalloc(unsigned long) { return nullptr; }
TEST_EXPORT long labs(long number) { return number < 0 ? -number : number; }
