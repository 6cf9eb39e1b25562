// blocked_call.h - what a system call waits for.
//
//   const auto call = ParseCall("230 0x0 0x0 0x7ffe... 0x7ffe... 0x7f...");
//   const CallWait wait = WaitOf(*call);        // kSleep
//   if (wait.object_is == ObjectIs::kDescriptor) {
//     kind = KindOfDescriptor(wait.kind, link);  // a socket's read: kNetwork
//   }
//
// Numbers and arguments are those of x86-64: syscall(2), proc(5). Pure
// functions.
#ifndef KYMO_BACKENDS_OFF_CPU_LOOK_BLOCKED_CALL_H_
#define KYMO_BACKENDS_OFF_CPU_LOOK_BLOCKED_CALL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/model/waits.h"

namespace kymo::off_cpu {

// /proc/PID/task/TID/syscall of a thread that does not run.
struct BlockedCall {
  int64_t number = -1;  // -1: it was interrupted, and is in no system call
  std::array<uint64_t, 6> arguments{};
  uint64_t stack_pointer = 0;
  uint64_t instruction = 0;

  friend bool operator==(const BlockedCall&, const BlockedCall&) = default;
};

// Nothing if the thread runs, or the text is not as the kernel writes it.
std::optional<BlockedCall> ParseCall(std::string_view text);

enum class ObjectIs : uint8_t {
  kNothing,
  kFutex,
  kDescriptor,
  kPolled,  // several descriptors (polled.h); `object` is 0
  kChild
};

struct CallWait {
  model::WaitKind kind = model::WaitKind::kOther;
  ObjectIs object_is = ObjectIs::kNothing;
  uint64_t object = 0;
};

CallWait WaitOf(const BlockedCall& call);

// The number of the system call of that name, "futex"; kOtherCall if WaitOf
// knows nothing of it.
inline constexpr int64_t kOtherCall = int64_t{1} << 32;
int64_t NumberOfCall(std::string_view name);

// `link`: where /proc/PID/fd/N points; `mode`: its type (inode(7)), or 0.
// Sockets are kNetwork and pipes kPipe, whoever reads or writes them. A pipe
// with a path, a FIFO, is known by its mode. Timers are kSleep, also if they
// are polled; eventfd, inotify and signalfd kPoll, terminals and other devices
// kOther.
model::WaitKind KindOfDescriptor(model::WaitKind kind, std::string_view link,
                                 uint32_t mode = 0);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOOK_BLOCKED_CALL_H_
