// Threads that free memory after their last exit handler: libc keeps the text
// of an unknown error per thread, and gives it back when the thread is gone.
#include <stdlib.h>
#include <string.h>

#include <thread>

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < count; ++i) {
    std::thread([] {
      void* block = malloc(100);
      asm volatile("" : "+r"(block) : : "memory");
      free(block);
      if (strerror(12345) == nullptr) abort();
    }).join();
  }
  return 0;
}
