// hook.h - defines a function that comes before libc's and notes how long it
// took, if that was long.
//
//   KYMO_WAIT_HOOK(ssize_t, read, (int fd, void* bytes, size_t size),
//                  (fd, bytes, size), kRead, Descriptor(fd))
//
// A hook does what the real function does, with its arguments, result and
// errno. It holds nothing while that runs. So a thread may leave it in any way:
// by cancellation, pthread_exit, or longjmp from a signal handler. Then the
// call is not noted.
#ifndef KYMO_BACKENDS_OFF_CPU_TARGET_HOOK_H_
#define KYMO_BACKENDS_OFF_CPU_TARGET_HOOK_H_

#include <errno.h>
#include <stdint.h>

#include "backends/off_cpu/target/real_calls.h"
#include "backends/off_cpu/target/wait_writer.h"

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))
// Inlined by force: between NoteCall and the program is only the hook.
#define KYMO_INLINE inline __attribute__((always_inline))

namespace kymo::off_cpu {

// A number or an address that the wait is for, besides its kind.
struct WaitObject {
  uint64_t value = 0;
  CallObject is = CallObject::kOther;
};
inline constexpr WaitObject kNoObject;

KYMO_INLINE WaitObject Descriptor(int fd) noexcept {
  return {static_cast<uint64_t>(static_cast<uint32_t>(fd)),
          CallObject::kDescriptor};
}
KYMO_INLINE WaitObject Object(const volatile void* object) noexcept {
  return {reinterpret_cast<uint64_t>(object)};
}

// Of a function that returns an error, or -1 and sets errno. Others have no
// wakers, for which this matters.
KYMO_INLINE bool IsTimeout(int64_t result) noexcept {
  return result == ETIMEDOUT || (result == -1 && errno == ETIMEDOUT);
}

KYMO_INLINE void NoteIfLong(uint64_t begin, CallKind kind, WaitObject object,
                            const void* function, uint64_t least_ticks,
                            uint32_t holder_tid, int64_t result) noexcept {
  const uint64_t end = CallTicks();
  if (end - begin < least_ticks) [[likely]]
    return;
  NoteCall(begin, end,
           {.kind = kind,
            .object = object.value,
            .object_is = object.is,
            .holder_tid = holder_tid,
            .function = function,
            .has_timed_out = IsTimeout(result)});
}

}  // namespace kymo::off_cpu

// A statement for the body of a hook.
#define KYMO_TIMED_CALL(name, arguments, kind, object, least, holder)         \
  {                                                                           \
    using namespace ::kymo::off_cpu; /* NOLINT */                             \
    const uint64_t begin = CallTicks();                                       \
    const auto result = REAL(name) arguments;                                 \
    NoteIfLong(begin, CallKind::kind, object,                                 \
               reinterpret_cast<const void*>(real.name), watch.least, holder, \
               static_cast<int64_t>(result));                                 \
    return result;                                                            \
  }

#define KYMO_HOOK_WITH(result_type, name, parameters, arguments, kind, object, \
                       least, ...)                                             \
  KYMO_EXPORT result_type name parameters __VA_ARGS__ {                        \
    using namespace ::kymo::off_cpu; /* NOLINT */                              \
    if (!IsWatching()) return REAL(name) arguments;                            \
    KYMO_TIMED_CALL(name, arguments, kind, object, least, 0)                   \
  }

#define KYMO_WAIT_HOOK(result_type, name, parameters, arguments, kind, object, \
                       ...)                                                    \
  KYMO_HOOK_WITH(result_type, name, parameters, arguments, kind, object,       \
                 least_ticks, __VA_ARGS__)

// Of a function that has much to do itself.
#define KYMO_BUSY_HOOK(result_type, name, parameters, arguments, kind, object, \
                       ...)                                                    \
  KYMO_HOOK_WITH(result_type, name, parameters, arguments, kind, object,       \
                 least_busy_ticks, __VA_ARGS__)

#endif  // KYMO_BACKENDS_OFF_CPU_TARGET_HOOK_H_
