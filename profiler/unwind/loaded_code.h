// loaded_code.h - finds the loaded file that an address is in, as of now.
//
//   LoadedCode code;
//   if (FindLoadedCode(pc, &code)) ... code.frame_header, code.identity
//
// Built with glibc 2.35 or later, it answers without a lock in a few
// nanoseconds (_dl_find_object). Built with an older glibc, it walks the
// loader's list under the loader's lock. Then a thread must not capture a stack
// while it holds something that another thread waits for inside a
// dl_iterate_phdr callback.
//
// Threads: any; signal handlers only where no lock is taken. The file stays
//   loaded while the caller's stack has frames of it.
#ifndef KYMO_PROFILER_UNWIND_LOADED_CODE_H_
#define KYMO_PROFILER_UNWIND_LOADED_CODE_H_

#include <cstdint>

namespace kymo::unwind {

struct LoadedCode {
  uint64_t begin = 0;
  uint64_t end = 0;
  const uint8_t* frame_header = nullptr;  // .eh_frame_hdr
  // A hash of the place and the build id. It differs from that of any other
  // file that was or will be at these addresses. For a file without a build id,
  // the size of its unwind table and the table's first function stand in for
  // it.
  uint64_t identity = 0;
  // If the file was loaded before the program began, so that it is never
  // unloaded: a LoadedCode that is valid for ever. Null for other files, and
  // before glibc 2.35.
  const LoadedCode* for_ever = nullptr;
};

// False if no loaded file is there, or one without unwind information.
bool FindLoadedCode(uint64_t pc, LoadedCode* code) noexcept;

// The same for a file that is not on the caller's stack, so that another thread
// may be unloading it. It is read through the kernel, and a file that is gone
// gives false and no fault. Takes microseconds.
bool FindLoadedCodeElsewhere(uint64_t pc, LoadedCode* code) noexcept;

// Whether FindLoadedCode takes no lock, so that any signal handler may call it.
bool FindsLoadedCodeWithoutLock() noexcept;

// Does the same with the loader's list, for glibc before 2.35.
bool FindLoadedCodeInList(uint64_t pc, LoadedCode* code) noexcept;

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_LOADED_CODE_H_
