// A program with an allocator of its own, a buffer that is never given back,
// and with an fstat of its own, as Clang's ThreadSanitizer has. Both work only
// after Prepare(), which runs before the constructors of most libraries.
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <atomic>

namespace {
alignas(64) char buffer[64 << 20];
std::atomic<size_t> used = 0;
constexpr size_t kHead = 16;  // before each block: its size
bool has_begun = false;
bool is_ready = false;
}  // namespace

extern "C" void __tsan_init() { has_begun = true; }

namespace {
void Prepare() {
  __tsan_init();
  is_ready = true;
}
__attribute__((section(".preinit_array"),
               used)) void (*const prepare)() = Prepare;
}  // namespace

extern "C" {
void* malloc(size_t bytes) {
  if (!is_ready) abort();
  const size_t need = kHead + (bytes + 15) / 16 * 16;
  const size_t at = used.fetch_add(need);
  if (bytes > sizeof(buffer) || at + need > sizeof(buffer)) return nullptr;
  memcpy(buffer + at, &bytes, sizeof(bytes));
  return buffer + at + kHead;
}
void free(void*) {}
int fstat(int fd, struct stat* status) {
  if (!has_begun) abort();
  return fstatat(fd, "", status, AT_EMPTY_PATH);
}
void* calloc(size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) return nullptr;
  return malloc(total);  // handed out once, so it is zero
}
void* realloc(void* block, size_t bytes) {
  void* const moved = malloc(bytes);
  if (block != nullptr && moved != nullptr) {
    size_t known;
    memcpy(&known, static_cast<char*>(block) - kHead, sizeof(known));
    memcpy(moved, block, known < bytes ? known : bytes);
  }
  return moved;
}
}

int main() {
  char* const block = static_cast<char*>(malloc(100));
  snprintf(block, 100, "allocated by my own malloc");
  puts(block);
  return 0;
}
