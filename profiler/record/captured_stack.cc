#include "profiler/record/captured_stack.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>

#include "profiler/record/host/own_host.h"

namespace kymo::record {

// The model is here, too: GCC would forget it in this file.
constinit thread_local CapturedStack* captured_stack
    __attribute__((tls_model("initial-exec"))) = nullptr;

constinit thread_local uint32_t captured_left_out
    __attribute__((tls_model("initial-exec"))) = 0;

namespace {

constexpr size_t kFirstBytes = 16 * 1024;

size_t BytesOf(uint32_t capacity) noexcept {
  return sizeof(CapturedStack) + capacity * sizeof(OpenCaptured);
}

// 1 + the key whose destructor frees a thread's stack; 0 = not made yet.
constinit std::atomic<uint32_t> exit_key_plus_1{0};

void OnThreadExit(void* value) {
  auto* const stack = static_cast<CapturedStack*>(value);
  captured_stack = nullptr;
  const Busy busy;
  munmap(stack, BytesOf(stack->capacity));
}

// False if no key is free; stacks then outlive their threads.
bool ExitKey(pthread_key_t* key) noexcept {
  uint32_t known = exit_key_plus_1.load(std::memory_order_acquire);
  if (known == 0) {
    if (pthread_key_create(key, OnThreadExit) != 0) return false;
    if (exit_key_plus_1.compare_exchange_strong(known, *key + 1,
                                                std::memory_order_acq_rel)) {
      return true;
    }
    pthread_key_delete(*key);
  }
  *key = known - 1;
  return true;
}

}  // namespace

CapturedStack* GrowCapturedStack() noexcept {
  // In the slow path: a signal handler interrupts this code on the same thread.
  // Behind a push that was left out, all are: each pop finds its own push.
  if (InSlowPath() || captured_left_out != 0) {
    ++captured_left_out;
    return nullptr;
  }
  const int saved_errno = errno;
  const Busy busy;
  CapturedStack* const old = captured_stack;
  const size_t bytes =
      old == nullptr ? kFirstBytes : 2 * BytesOf(old->capacity);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = saved_errno;
  if (mapped == MAP_FAILED) {
    ++captured_left_out;
    if (own.has_arena.load(std::memory_order_acquire)) {
      own.arena.header().events_without_stream.fetch_add(
          1, std::memory_order_relaxed);
    }
    return nullptr;
  }
  auto* const grown = static_cast<CapturedStack*>(mapped);
  if (old != nullptr) memcpy(mapped, old, BytesOf(old->size));
  grown->capacity = static_cast<uint32_t>((bytes - sizeof(CapturedStack)) /
                                          sizeof(OpenCaptured));
  captured_stack = grown;
  pthread_key_t key;
  if (ExitKey(&key)) pthread_setspecific(key, grown);
  if (old != nullptr) munmap(old, BytesOf(old->capacity));
  return grown;
}

int RemoveCaptured(CapturedStack* stack, const void* domain,
                   OpenRange* range) noexcept {
  for (uint32_t i = stack->size; i-- > 0;) {
    const OpenCaptured found = stack->open[i];
    if (found.domain != domain) continue;
    *range = found.range;
    memmove(static_cast<void*>(&stack->open[i]), &stack->open[i + 1],
            (stack->size - 1 - i) * sizeof(OpenCaptured));
    stack->open[stack->size - 1].range.slot = nullptr;
    __atomic_store_n(&stack->size, stack->size - 1, __ATOMIC_RELAXED);
    return found.level;
  }
  return -1;
}

OpenCaptured* TopCaptured(const void* domain) noexcept {
  CapturedStack* const stack = captured_stack;
  if (stack == nullptr) return nullptr;
  for (uint32_t i = stack->size; i-- > 0;) {
    if (stack->open[i].domain == domain) return &stack->open[i];
  }
  return nullptr;
}

}  // namespace kymo::record
