// jit_files.h - opens the files in which one process names its code.
//
//   JitFiles files = JitFiles::Of(pid);       // while it lives, if possible
//   OwnedDescriptor map = files.OpenPerfMap();
//   OwnedDescriptor dump = files.OpenDump(path_of_a_mapping);
//
// The files lie where anybody may write. One is opened only if it is a regular
// file of the process's user, has one name, is no symbolic link and was written
// since the process began: numbers of processes are used again. Paths are those
// that the process sees, and lead nowhere else.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_JIT_FILES_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_JIT_FILES_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/base/owned_descriptor.h"
#include "profiler/base/time.h"

namespace kymo::symbolize {

// Whether this is the name of a jitdump, "jit-<pid>.dump".
bool IsJitDumpName(std::string_view path);

// Whether a process of `user`, which began at `start_ns`, may have written the
// file itself.
bool IsFileOf(const struct stat& file, uid_t user, TimeNs start_ns);

class JitFiles {
 public:
  // Of a process that has ended, what this process sees and owns.
  static JitFiles Of(int64_t pid);

  // Each result is not open if there is no such file, or one of somebody else.
  OwnedDescriptor OpenPerfMap() const;
  // An empty path means the one that a mapping named when this was made, else
  // the usual place in /tmp.
  OwnedDescriptor OpenDump(const std::string& path) const;

 private:
  OwnedDescriptor Open(const std::string& path) const;

  OwnedDescriptor root_;
  uid_t user_ = 0;
  int64_t inner_pid_ = 0;  // as the process sees itself
  TimeNs start_ns_ = 0;    // of the process, since the epoch; 0: not known
  std::string mapped_dump_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_JIT_FILES_H_
