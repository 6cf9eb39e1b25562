// loaded_code.h - which loaded file an address is in, as of now.
//
//   LoadedCode code;
//   if (FindLoadedCode(pc, &code)) ... code.frame_header, code.identity
//
// Built with glibc 2.35 or later it answers without a lock, in some nanoseconds
// (_dl_find_object). Before that the loader's list is walked under its lock, so
// no thread may capture a stack while it holds what another one waits for in a
// dl_iterate_phdr callback.
//
// Threads: any, also signal handlers where the answer is without a lock. What
//   is found stays loaded while the caller's stack has frames of it.
#ifndef KYMO_PROFILER_UNWIND_LOADED_CODE_H_
#define KYMO_PROFILER_UNWIND_LOADED_CODE_H_

#include <cstdint>

namespace kymo::unwind {

struct LoadedCode {
  uint64_t begin = 0;
  uint64_t end = 0;
  const uint8_t* frame_header = nullptr;  // .eh_frame_hdr
  // Differs from that of any other file that was or will be at these addresses:
  // a hash of the place and the build id. A file without a build id is known
  // by the size of its unwind table and the first function there.
  uint64_t identity = 0;
};

// False where there is no loaded file, or none with unwind information.
bool FindLoadedCode(uint64_t pc, LoadedCode* code) noexcept;

// The same by the loader's list, for glibc before 2.35.
bool FindLoadedCodeInList(uint64_t pc, LoadedCode* code) noexcept;

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_LOADED_CODE_H_
