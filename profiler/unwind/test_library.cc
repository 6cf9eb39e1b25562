// A library that tests load and unload. Variants differ only in ROOM, so they
// fill the same addresses with other frames.
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
