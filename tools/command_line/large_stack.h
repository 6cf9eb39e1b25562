// large_stack.h - runs a command with enough stack.
//
//   return kymo::tools::RunWithLargeStack([&] { return Main(arguments); });
//
// Libraries that find the names of functions need hundreds of KiB of stack.
// Under a small limit (`ulimit -s 128`) a command would crash in them.
#ifndef KYMO_TOOLS_COMMAND_LINE_LARGE_STACK_H_
#define KYMO_TOOLS_COMMAND_LINE_LARGE_STACK_H_

#include <functional>

namespace kymo::tools {

// Calls `run`, and returns what it returns. If the limit of the stack is below
// 8 MiB (Linux's default), `run` is called in a thread with a stack of that
// size. The thread has this thread's signal mask; here all signals are blocked.
int RunWithLargeStack(const std::function<int()>& run);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_LARGE_STACK_H_
