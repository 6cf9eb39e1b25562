// A library for tests that load and unload it. Variants differ in ROOM only,
// so that they fill the same addresses with other frames.
namespace {

void Use(volatile void* address) {
  asm volatile("" : : "r"(address) : "memory");
}

}  // namespace

extern "C" [[gnu::noinline]] void test_library_call(void (*callback)(void*),
                                                    void* argument) {
  volatile char room[ROOM];
  Use(room);
  callback(argument);
  Use(room);
}
