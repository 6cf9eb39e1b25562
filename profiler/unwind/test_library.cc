// A library that tests load and unload. Variants differ only in ROOM, so they
// fill the same addresses with other frames, and in the name of one function.
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

// The same under a name that the variants do not share.
extern "C" [[gnu::noinline]] void NAME(void (*callback)(void*),
                                       void* argument) {
  volatile char room[ROOM];
  Use(room);
  callback(argument);
  Use(room);
}
