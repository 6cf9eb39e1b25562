// A library with functions of jemalloc, which it also calls, as a plug-in with
// a jemalloc of its own does. In a program with hooks, the calls reach them.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Before each block.
struct alignas(16) Header {
  size_t bytes;
  size_t mark;
};

constexpr size_t kMark = 0x6a656d616c6c6f63;

int owned = 0;

Header* HeaderOf(void* block) { return static_cast<Header*>(block) - 1; }

}  // namespace

KYMO_EXPORT void* mallocx(size_t bytes, int) {
  auto* const header = static_cast<Header*>(malloc(sizeof(Header) + bytes));
  *header = {bytes, kMark};
  ++owned;
  return header + 1;
}

KYMO_EXPORT void sdallocx(void* block, size_t, int) {
  --owned;
  free(HeaderOf(block));
}

KYMO_EXPORT void dallocx(void* block, int) {
  --owned;
  free(HeaderOf(block));
}

KYMO_EXPORT void* rallocx(void* block, size_t bytes, int) {
  auto* const header =
      static_cast<Header*>(realloc(HeaderOf(block), sizeof(Header) + bytes));
  header->bytes = bytes;
  return header + 1;
}

// Each does something after its call, so that the compiler makes no jump of it.
KYMO_EXPORT void* Allocate(size_t bytes) {
  void* const block = mallocx(bytes, 0);
  memset(block, 1, bytes);
  return block;
}

KYMO_EXPORT void* Reallocate(void* block, size_t bytes) {
  void* const moved = rallocx(block, bytes, 0);
  memset(moved, 2, bytes);
  return moved;
}

KYMO_EXPORT void Free(void* block) { sdallocx(block, 0, 0); }

KYMO_EXPORT bool IsOwn(void* block) { return HeaderOf(block)->mark == kMark; }

KYMO_EXPORT int Owned() { return owned; }
