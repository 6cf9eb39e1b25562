#include "backends/sampling/unwind/test_own_stack.h"

#include <algorithm>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

namespace kymo::sampling {

OwnStack CaptureOwnStack(size_t limit_bytes) {
  static constexpr int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
                                   REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
                                   REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
                                   REG_R15, REG_RIP};
  OwnStack stack;
  stack.memory.resize(limit_bytes);
  ucontext_t context;
  getcontext(&context);
  for (int i = 0; i < kRegisterCount; ++i) {
    stack.registers[i] =
        static_cast<uint64_t>(context.uc_mcontext.gregs[kOrder[i]]);
  }
  // Lets the kernel copy, page by page: it stops where the stack ends, and
  // sanitizers do not object. The flags lie on the stack, where Clang would
  // write the half of an int only.
  std::vector<iovec> pages;
  for (size_t at = 0; at < limit_bytes; at += 1024) {
    pages.push_back({reinterpret_cast<void*>(stack.registers[kRsp] + at),
                     std::min<size_t>(1024, limit_bytes - at)});
  }
  const iovec target = {stack.memory.data(), limit_bytes};
  const long copied = syscall(SYS_process_vm_readv, getpid(), &target, 1ul,
                              pages.data(), pages.size(), 0ul);
  stack.memory.resize(copied < 0 ? 0 : static_cast<size_t>(copied));
  return stack;
}

}  // namespace kymo::sampling
