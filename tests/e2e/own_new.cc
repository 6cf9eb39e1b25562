// Replaces two forms of the allocation operators, with a head before each
// block: the standard says that all other forms lead to these.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <new>
#include <string>
#include <vector>

namespace {
constexpr size_t kHead = 16;

template <typename T>
T* Opaque(T* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}
}  // namespace

void* operator new(size_t bytes) {
  char* const block = static_cast<char*>(malloc(bytes + kHead));
  if (block == nullptr) throw std::bad_alloc();
  return block + kHead;
}
void operator delete(void* block) noexcept {
  if (block != nullptr) free(static_cast<char*>(block) - kHead);
}

int main() {
  struct Large {
    long values[10];
    ~Large() { asm volatile(""); }
  };
  delete Opaque(new Large);
  delete[] Opaque(new Large[3]);
  delete Opaque(new (std::nothrow) int(1));
  std::vector<int> numbers(1000);
  std::string text(100, 'x');
  Opaque(numbers.data());
  Opaque(text.data());
  puts("fine");
  return 0;
}
