#include "backends/off_cpu/look/kernel_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backends/off_cpu/look/blocked_call.h"

namespace kymo::off_cpu {
namespace {

// Of the functions that the kernel's SYSCALL_DEFINE makes. The first one ends
// with a call of the second, unless that is a part of it, and is not on the
// stack then.
constexpr std::string_view kCallPrefixes[] = {"__x64_sys_", "__do_sys_",
                                              "__se_sys_"};

// The same of functions with names of their own.
struct Body {
  std::string_view function;
  std::string_view call;
};
constexpr Body kBodies[] = {
    {"ksys_read", "read"},
    {"ksys_write", "write"},
    {"ksys_pread64", "pread64"},
    {"ksys_pwrite64", "pwrite64"},
    {"do_readv", "readv"},
    {"do_writev", "writev"},
    {"do_preadv", "preadv"},
    {"do_pwritev", "pwritev"},
    {"do_fsync", "fsync"},
    {"ksys_sync", "sync"},
    {"do_sys_openat2", "openat"},
    {"do_futex", "futex"},
    {"kernel_wait4", "wait4"},
    {"kernel_waitid", "waitid"},
    {"kernel_clone", "clone"},
    {"do_sys_poll", "poll"},
    {"core_sys_select", "select"},
    {"do_epoll_wait", "epoll_wait"},
    {"__sys_recvfrom", "recvfrom"},
    {"__sys_sendto", "sendto"},
    {"__sys_recvmsg", "recvmsg"},
    {"__sys_sendmsg", "sendmsg"},
    {"__sys_recvmmsg", "recvmmsg"},
    {"__sys_sendmmsg", "sendmmsg"},
    {"__sys_accept4", "accept4"},
    {"__sys_connect", "connect"},
    {"do_msgsnd", "msgsnd"},
    {"do_msgrcv", "msgrcv"},
    // What goes on after a stop.
    {"hrtimer_nanosleep_restart", "clock_nanosleep"},
    {"alarm_timer_nsleep_restart", "clock_nanosleep"},
    {"posix_cpu_nsleep_restart", "clock_nanosleep"},
    {"do_restart_poll", "poll"},
    {"futex_wait_restart", "futex"},
};

}  // namespace

std::optional<KernelCall> CallOfFunction(std::string_view function) {
  if (function == "do_signal_stop" || function == "ptrace_stop") {
    return KernelCall{.is_stopped = true};
  }
  if (function.starts_with("rwsem_down_")) {
    return KernelCall{.is_kernel_lock = true};
  }
  constexpr std::string_view kPipes[] = {
      "pipe_read",      "pipe_write",  // before Linux 6.15
      "anon_pipe_read", "anon_pipe_write", "fifo_pipe_read", "fifo_pipe_write"};
  if (std::ranges::find(kPipes, function) != std::end(kPipes)) {
    return KernelCall{.is_pipe = true};
  }
  if (function == "asm_exc_page_fault") return KernelCall{.number = -1};
  const auto* const body =
      std::ranges::find(kBodies, function, &Body::function);
  if (body != std::end(kBodies)) {
    return KernelCall{.number = NumberOfCall(body->call)};
  }
  const auto* const prefix = std::ranges::find_if(
      kCallPrefixes, [&](auto text) { return function.starts_with(text); });
  if (prefix == std::end(kCallPrefixes)) return std::nullopt;
  function.remove_prefix(prefix->size());
  // The compiler's own versions of a function are "flock.isra.0".
  return KernelCall{.number =
                        NumberOfCall(function.substr(0, function.find('.')))};
}

int64_t RestartedCall(std::string_view function) {
  const auto has = [&](std::string_view word) {
    return function.find(word) != std::string_view::npos;
  };
  return NumberOfCall(has("futex")  ? "futex"
                      : has("poll") ? "poll"
                                    : "clock_nanosleep");
}

KernelCalls::KernelCalls()
    : symbols_(symbolize::KernelSymbols::OfThisMachine(/*last_address=*/0)),
      has_modules_(false) {}

KernelCalls::KernelCalls(
    std::shared_ptr<const symbolize::KernelSymbols> symbols)
    : symbols_(std::move(symbols)), has_modules_(true) {}

KernelCall KernelCalls::Find(std::span<const uint64_t> frames) {
  bool is_pipe = false;
  for (const uint64_t frame : frames) {
    // A return address may be the next function's first.
    const uint64_t address = frame - 1;
    const auto [at, is_new] = known_.try_emplace(address);
    if (is_new) {
      if (!has_modules_ && !symbols_->Reaches(address)) {
        symbols_ = symbolize::KernelSymbols::OfThisMachine(~uint64_t{0});
        has_modules_ = true;
      }
      const auto symbol = symbols_->Find(address);
      if (symbol) at->second = CallOfFunction(symbol->name);
    }
    if (!at->second) continue;
    KernelCall call = *at->second;
    if (call.is_pipe) {
      is_pipe = true;
      continue;
    }
    call.is_pipe = is_pipe;
    return call;
  }
  return {.is_pipe = is_pipe};
}

}  // namespace kymo::off_cpu
