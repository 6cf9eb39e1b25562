// first_in_line.h - the command gets the CPU before other programs.
//
//   const FirstInLine first_in_line;
//   Record();
//
// On a machine that is full, a program would make threads faster than they are
// found, and samples faster than they are read. While this lives, the calling
// thread and the threads that it begins have the nice value -20, if root or
// CAP_SYS_NICE permits it. So would programs that it starts: start them before.
// Threads: one.
#ifndef KYMO_TOOLS_COMMAND_LINE_FIRST_IN_LINE_H_
#define KYMO_TOOLS_COMMAND_LINE_FIRST_IN_LINE_H_

#include <sys/resource.h>

namespace kymo::tools {

class FirstInLine {
 public:
  FirstInLine() : before_(getpriority(PRIO_PROCESS, 0)) {
    (void)setpriority(PRIO_PROCESS, 0, -20);
  }
  ~FirstInLine() { (void)setpriority(PRIO_PROCESS, 0, before_); }
  FirstInLine(const FirstInLine&) = delete;
  FirstInLine& operator=(const FirstInLine&) = delete;

 private:
  const int before_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_FIRST_IN_LINE_H_
