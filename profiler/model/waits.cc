#include "profiler/model/waits.h"

#include <string_view>

namespace kymo::model {

std::string_view NameOf(WaitKind kind) {
  switch (kind) {
    case WaitKind::kUnknown:
      return "unknown";
    case WaitKind::kLock:
      return "lock";
    case WaitKind::kCondition:
      return "condition";
    case WaitKind::kSleep:
      return "sleep";
    case WaitKind::kRead:
      return "read";
    case WaitKind::kWrite:
      return "write";
    case WaitKind::kPoll:
      return "poll";
    case WaitKind::kNetwork:
      return "network";
    case WaitKind::kChild:
      return "child";
    case WaitKind::kPageFault:
      return "page fault";
    case WaitKind::kCpuBusy:
      return "CPU busy";
    case WaitKind::kOther:
      return "other";
    case WaitKind::kPipe:
      return "pipe";
  }
  return "unknown";
}

}  // namespace kymo::model
