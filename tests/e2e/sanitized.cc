// Four threads that allocate and free at the same time, built with a sanitizer.
//
//   sanitized        prints "done"
//   sanitized bug    reads behind a block of 8 bytes
#include <stdio.h>
#include <stdlib.h>

#include <thread>
#include <vector>

namespace {

void AllocateAndFree() {
  for (size_t i = 0; i < 20000; ++i) {
    volatile char* const block = static_cast<char*>(malloc(i % 1000 + 1));
    block[0] = 1;
    free(const_cast<char*>(block));
  }
}

}  // namespace

int main(int argc, char**) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(AllocateAndFree);
  for (std::thread& thread : threads) thread.join();
  if (argc > 1) {
    volatile size_t bytes = 8;
    volatile char* const block = static_cast<char*>(malloc(bytes));
    return block[6 + argc];
  }
  puts("done");
  return 0;
}
