// elf_program.h - what a program's file tells about how it can be profiled.
#ifndef KYMO_BACKENDS_SAMPLING_ELF_PROGRAM_H_
#define KYMO_BACKENDS_SAMPLING_ELF_PROGRAM_H_

#include <string>

namespace kymo::sampling {

struct ElfProgram {
  bool is_elf = false;        // false: a script, or unreadable
  bool is_static = false;     // an executable without a loader (PT_INTERP)
  bool is_go = false;         // of Go, whose threads do not wait in libc
  bool changes_user = false;  // set-uid or set-gid to somebody else
  bool is_hidden = false;     // this user may execute it, but not read it
};

ElfProgram InspectProgram(const std::string& path);

// Why the kernel ends perf events at the exec of the program at `path`, and
// what to do, as words that follow its name. Empty if it does not end them. If
// the program changes its user, the kernel ends root's events, too. Reads no
// more than the file's rights, since each start of a program asks.
std::string ObstacleToEvents(const std::string& path);

// Whether Python runs the program. By names alone, since this delays the start
// of any program: that of the file, of the file that it links to, or of the
// interpreter in a script's first line (also behind `env`) begins with
// "python". False if it cannot be read.
bool IsRunByPython(const std::string& path);

// Whether hooks of the C library's functions tell where the program at `path`
// waits. Static programs have no hooks, Go's make their system calls without
// the C library, and the stacks of Python's show the interpreter alone.
bool HooksSeeWaits(const std::string& path);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_ELF_PROGRAM_H_
