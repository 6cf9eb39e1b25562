// Allocates what the tests know.
//
//   allocate exact ROUNDS   all forms, on several threads, frees on others;
//                     prints "allocations frees bytes"
//   allocate leak     leaks in two functions of known names
//   allocate clean    allocates and frees everything
//   allocate steps    ProfilerStep#N ranges that each keep 1000 bytes
//   allocate sampled [fail]   many allocations of three sizes, after some that
//                     fail; prints how many, and bytes
//   allocate fiber    a forked child allocates on a stack of 8 KiB
//   allocate pairs N [FRAMES]   N times malloc and free of 64 bytes, called by
//                     so many frames more; prints ns for each
//   allocate turns SMALL LARGE   leaks 3000 bytes called by library SMALL and
//                     1000 by LARGE, five times, with one loaded where the
//                     other was; ends with 4 if it was not there
//   allocate operations   ranges that allocate, as PyTorch's example
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "kymo/record_function.h"

namespace {

// Keeps the compiler from knowing what becomes of a block.
template <typename T>
T* Opaque(T* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

struct Counted {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes = 0;
};

struct alignas(64) Line {
  char bytes[192];
};

// One block of each form; the blocks come back, to be freed elsewhere.
std::vector<void*> AllForms(Counted& counted) {
  std::vector<void*> blocks;
  blocks.reserve(16);
  ++counted.allocations;
  counted.bytes += 16 * sizeof(void*);
  const auto add = [&](void* block, size_t bytes) {
    blocks.push_back(Opaque(block));
    ++counted.allocations;
    counted.bytes += bytes;
  };
  add(malloc(101), 101);
  add(calloc(7, 13), 91);
  add(aligned_alloc(64, 128), 128);
  add(memalign(32, 77), 77);
  void* aligned = nullptr;
  if (posix_memalign(&aligned, 256, 300) == 0) add(aligned, 300);
  add(valloc(11), 11);
  add(reallocarray(nullptr, 5, 9), 45);
  void* moved = malloc(10);
  ++counted.allocations;
  counted.bytes += 10;
  ++counted.frees;
  add(realloc(Opaque(moved), 100'000), 100'000);
  return blocks;
}

void FreeAll(std::vector<void*> blocks, Counted& counted) {
  for (void* block : blocks) {
    free(block);
    ++counted.frees;
  }
  ++counted.frees;  // the vector's own
}

void Operators(Counted& counted) {
  delete Opaque(new int64_t(1));
  delete[] Opaque(new char[33]);
  delete Opaque(new Line);
  delete[] Opaque(new Line[2]);
  ::operator delete(Opaque(::operator new(55, std::nothrow)), std::nothrow);
  ::operator delete(Opaque(::operator new(0)));
  counted.allocations += 6;
  counted.frees += 6;
  counted.bytes += 8 + 33 + sizeof(Line) + 2 * sizeof(Line) + 55;
}

int Exact(int rounds) {
  constexpr int kThreads = 4;
  // Allocations that are not counted, for threads and results, do not depend on
  // the rounds.
  Counted total;
  std::vector<Counted> counts(kThreads);
  std::vector<std::vector<void*>> handed_on(kThreads);
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        KYMO_RECORD_FUNCTION("allocating");
        for (int round = 0; round < rounds; ++round) {
          FreeAll(AllForms(counts[t]), counts[t]);
          Operators(counts[t]);
        }
        handed_on[t] = AllForms(counts[t]);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::thread([&] {
    KYMO_RECORD_FUNCTION("freeing");
    for (int t = 0; t < kThreads; ++t) {
      FreeAll(std::move(handed_on[t]), counts[t]);
      handed_on[t] = {};
    }
  }).join();
  for (const Counted& counted : counts) {
    total.allocations += counted.allocations;
    total.frees += counted.frees;
    total.bytes += counted.bytes;
  }
  printf("%llu %llu %llu\n", static_cast<unsigned long long>(total.allocations),
         static_cast<unsigned long long>(total.frees),
         static_cast<unsigned long long>(total.bytes));
  return 0;
}

__attribute__((noinline)) void LeakInFirst() {
  Opaque(malloc(1234));  // the first planted leak
}
__attribute__((noinline)) void LeakInSecond() {
  for (volatile int i = 0; i < 3; i = i + 1) {  // not unrolled: one place
    Opaque(new char[5000]);                     // the second planted leak
  }
}
int Leak() {
  LeakInFirst();
  LeakInSecond();
  free(Opaque(malloc(100)));
  return 0;
}

int Clean() {
  std::vector<std::string> words;
  for (int i = 0; i < 10'000; ++i) {
    words.push_back(std::string(100, 'x') + std::to_string(i));
  }
  return words.size() == 10'000 ? 0 : 1;
}

int Steps() {
  for (int step = 0; step < 5; ++step) {
    kymo::RecordFunction range("ProfilerStep#" + std::to_string(step),
                               kymo::RecordScope::kUserScope);
    Opaque(malloc(1000));
    free(Opaque(malloc(70'000)));
  }
  return 0;
}

int Sampled(bool fail) {
  for (int i = 0; fail && i < 4; ++i) {
    if (Opaque(malloc(size_t{1} << 62)) != nullptr) return 1;
    volatile size_t too_large = (size_t{1} << 63) + 256;
    if (Opaque(malloc(too_large)) != nullptr) return 1;
    volatile size_t half = size_t{1} << 33;
    if (Opaque(calloc(half, half)) != nullptr) return 1;
  }
  uint64_t bytes = 0;
  uint64_t allocations = 0;
  for (int i = 0; i < 200'000; ++i) {
    for (const size_t size : {size_t{32}, size_t{1000}, size_t{20'000}}) {
      free(Opaque(malloc(size)));
      bytes += size;
      ++allocations;
    }
  }
  printf("%llu %llu\n", static_cast<unsigned long long>(allocations),
         static_cast<unsigned long long>(bytes));
  return 0;
}

ucontext_t main_context, fiber_context;

void AllocateOnFiber() { free(Opaque(malloc(100))); }

int Fiber() {
  free(Opaque(malloc(100)));
  const pid_t child = fork();
  if (child == 0) {
    // Behind a page that must not be touched.
    constexpr size_t kPage = 4096;
    constexpr size_t kStackBytes = 2 * kPage;
    char* const memory = static_cast<char*>(
        mmap(nullptr, kPage + kStackBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED || mprotect(memory, kPage, PROT_NONE) != 0) {
      _exit(2);
    }
    getcontext(&fiber_context);
    fiber_context.uc_stack.ss_sp = memory + kPage;
    fiber_context.uc_stack.ss_size = kStackBytes;
    fiber_context.uc_link = &main_context;
    makecontext(&fiber_context, AllocateOnFiber, 0);
    swapcontext(&main_context, &fiber_context);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 1;
  puts("fine");
  return 0;
}

int Pairs(int64_t count) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i) free(Opaque(malloc(64)));
  const std::chrono::duration<double, std::nano> elapsed =
      std::chrono::steady_clock::now() - start;
  printf("%.2f ns\n", elapsed.count() / static_cast<double>(count));
  return 0;
}

[[gnu::noinline]] int PairsBelow(int64_t frames, int64_t count) {
  if (frames == 0) return Pairs(count);
  const int status = PairsBelow(frames - 1, count);
  asm volatile("" : : : "memory");  // so that the call has its frame
  return status;
}

// The example of torch-profiler's documentation: A and its child B.
int Operations() {
  void* kept = nullptr;
  {
    KYMO_RECORD_FUNCTION("A");
    void* in_b = nullptr;
    {
      KYMO_RECORD_FUNCTION("B");
      in_b = Opaque(malloc(100));
      kept = Opaque(malloc(50));
    }
    free(in_b);
  }
  free(kept);
  return 0;
}

// More memory than there is, in four ways.
int Fail() {
  size_t bytes = size_t{1} << 60;
  Opaque(&bytes);
  int failed = Opaque(malloc(bytes)) == nullptr;
  failed += Opaque(::operator new(bytes, std::nothrow)) == nullptr;
  for (const bool is_aligned : {false, true}) {
    try {
      Opaque(is_aligned ? ::operator new (bytes, std::align_val_t{64})
                        : ::operator new(bytes));
    } catch (const std::bad_alloc&) {
      ++failed;
    }
  }
  printf("%d\n", failed);
  return 0;
}

// Leaks in a function of the library; returns where that is.
void* LeakIn(const char* path, const char* function, size_t bytes) {
  using Call = void (*)(void (*)(void*), void*);
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return nullptr;
  void* const place = dlsym(library, "test_library_call");
  reinterpret_cast<Call>(dlsym(library, function))(
      [](void* wanted) { Opaque(malloc(*static_cast<size_t*>(wanted))); },
      &bytes);
  dlclose(library);
  return place;
}

int LeakInTurn(const char* small_path, const char* large_path) {
  for (int i = 0; i < 5; ++i) {
    void* const small = LeakIn(small_path, "test_library_small", 3000);
    void* const large = LeakIn(large_path, "test_library_large", 1000);
    if (small == nullptr || small != large) return 4;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "exact") return Exact(argc > 2 ? atoi(argv[2]) : 1000);
  if (what == "leak") return Leak();
  if (what == "clean") return Clean();
  if (what == "steps") return Steps();
  if (what == "sampled") return Sampled(argc > 2);
  if (what == "fiber") return Fiber();
  if (what == "fail") return Fail();
  if (what == "turns" && argc > 3) return LeakInTurn(argv[2], argv[3]);
  if (what == "pairs") {
    const int64_t count = argc > 2 ? atoll(argv[2]) : 10'000'000;
    return argc > 3 ? PairsBelow(atoll(argv[3]), count) : Pairs(count);
  }
  if (what == "operations") return Operations();
  fprintf(stderr,
          "usage: allocate "
          "exact|leak|clean|steps|sampled|fiber|fail|pairs|turns|operations\n");
  return 2;
}
