// Compiled several times; PREFIX is the name of the variant.
#include <alloca.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "profiler/unwind/test_chain.h"

#define KYMO_JOIN_(a, b) a##b
#define KYMO_JOIN(a, b) KYMO_JOIN_(a, b)
#define KYMO_NAME(suffix) KYMO_JOIN(PREFIX, suffix)

namespace kymo::unwind {
namespace {

// Uses `address` in a way that the compiler cannot see through.
void Use(volatile void* address) {
  asm volatile("" : : "r"(address) : "memory");
}

[[gnu::noinline]] void Small(Chain& chain) {
  volatile char room[40];
  Use(room);
  chain.Next();
  Use(room);
}

[[gnu::noinline]] void Large(Chain& chain) {
  volatile char room[30000];
  Use(room);
  chain.Next();
  Use(room);
}

[[gnu::noinline]] void Realigned(Chain& chain) {
  alignas(64) volatile char room[64];
  Use(room);
  chain.Next();
  Use(room);
}

[[gnu::noinline]] void Dynamic(Chain& chain) {
  void* const room = alloca(64 + (reinterpret_cast<uintptr_t>(&chain) & 255));
  Use(room);
  chain.Next();
  Use(room);
}

[[gnu::noinline]] void RealignedDynamic(Chain& chain) {
  alignas(64) volatile char fixed[64];
  Use(fixed);
  Dynamic(chain);
  void* const room = alloca(64 + (reinterpret_cast<uintptr_t>(&chain) & 255));
  Use(room);
  chain.left == 0 ? void() : chain.Next();
  Use(fixed);
}

// Uses all registers that a callee must save; rbp may be one of many.
[[gnu::noinline]] long Busy(Chain& chain, long a, long b, long c, long d,
                            long e) {
  long f = a * b, g = b * c, h = c * d, i = d * e;
  for (long n = 0; n < (a & 3); ++n) f += g ^= h += i ^= f;
  chain.Next();
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i;
}
[[gnu::noinline]] void ManyRegisters(Chain& chain) {
  volatile long sink = Busy(chain, 1, 2, 3, 4, 5);
  Use(&sink);
}

[[gnu::noinline]] void Function(Chain& chain) {
  std::function<void(int)> call = [&chain](int value) {
    volatile int copy = value;
    Use(&copy);
    chain.Next();
    Use(&copy);
  };
  Use(&call);
  call(3);
}

thread_local Chain* current_chain;

int CompareInQsort(const void* a, const void* b) {
  Chain* const chain = current_chain;
  current_chain = nullptr;
  if (chain != nullptr) chain->Next();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
[[gnu::noinline]] void Qsort(Chain& chain) {
  int values[] = {3, 1, 2, 5, 4};
  current_chain = &chain;
  std::qsort(values, 5, sizeof(int), CompareInQsort);
  Use(values);
}

[[gnu::noinline]] void Catch(Chain& chain) {
  try {
    throw std::runtime_error("");
  } catch (const std::exception& error) {
    chain.Next();
    Use(&chain);
  }
}

struct NextAtEnd {
  ~NextAtEnd() { chain.Next(); }
  Chain& chain;
};
[[gnu::noinline]] void ThrowPast(Chain& chain) {
  NextAtEnd next{chain};
  Use(&next);
  throw std::runtime_error("");
}
[[gnu::noinline]] void Cleanup(Chain& chain) {
  try {
    ThrowPast(chain);
  } catch (const std::exception&) {
    Use(&chain);
  }
}

// The call is the last instruction of its caller, so the return address is in
// the function behind it.
[[noreturn, gnu::noinline]] void NextAndThrow(Chain& chain) {
  chain.Next();
  throw 1;
}
[[gnu::noinline]] void CallNoReturn(Chain& chain) {
  volatile char room[72];
  Use(room);
  NextAndThrow(chain);
}
[[gnu::noinline]] void NoReturn(Chain& chain) {
  try {
    CallNoReturn(chain);
  } catch (int) {
    Use(&chain);
  }
}

void OnSignal(int) {
  Chain* const chain = current_chain;
  chain->Next();
}
void InSignal(Chain& chain, int flags) {
  struct sigaction action = {}, old;
  action.sa_handler = OnSignal;
  action.sa_flags = flags | SA_NODEFER;
  sigaction(SIGUSR1, &action, &old);
  Chain* const outer = current_chain;
  current_chain = &chain;
  raise(SIGUSR1);
  current_chain = outer;
  sigaction(SIGUSR1, &old, nullptr);
}
[[gnu::noinline]] void Signal(Chain& chain) { InSignal(chain, 0); }

[[gnu::noinline]] void SignalOnOtherStack(Chain& chain) {
  stack_t before;
  sigaltstack(nullptr, &before);
  // Only one such stack can be in use at a time.
  if ((before.ss_flags & SS_DISABLE) == 0) return chain.Next();
  constexpr size_t kBytes = 1 << 20;
  stack_t stack = {};
  stack.ss_sp = std::malloc(kBytes);
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
  InSignal(chain, SA_ONSTACK);
  sigaltstack(&before, nullptr);
  std::free(stack.ss_sp);
}

[[gnu::noinline]] void Thread(Chain& chain) {
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    static_cast<Chain*>(argument)->Next();
    return nullptr;
  };
  pthread_create(&thread, nullptr, run, &chain);
  pthread_join(thread, nullptr);
}

[[gnu::noinline]] void Sort(Chain& chain) {
  int values[] = {3, 1, 2, 5, 4, 9, 7, 8};
  bool is_first = true;
  std::sort(std::begin(values), std::end(values), [&](int a, int b) {
    if (is_first) {
      is_first = false;
      chain.Next();
    }
    return a < b;
  });
  Use(values);
}

constexpr ChainStep kSteps[] = {
    Small, Large,  Realigned, Dynamic,  RealignedDynamic, ManyRegisters,
    Qsort, Catch,  Cleanup,   NoReturn, Signal,           SignalOnOtherStack,
    Sort,  Thread, Function,
};

}  // namespace

extern "C" ChainSteps KYMO_NAME(_steps)() {
  return {kSteps, sizeof(kSteps) / sizeof(kSteps[0])};
}

}  // namespace kymo::unwind
