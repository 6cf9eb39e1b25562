// told_files.h - numbers the loaded files of a stack, and tells the collector
// which file has which number.
//
//   NewFiles files;
//   const unwind::FileMarks marks = {MarkFile, &files};
//   unwind::CaptureInterrupted(registers, pcs, limit, &end, &marks);
//   if (files.count != 0) TellFiles(files, ring, tid);
//
// A process tells of each file once. Needs libc only.
//
// Threads: any, also in signal handlers.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_TOLD_FILES_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_TOLD_FILES_H_

#include <stdint.h>

#include "backends/sampling/target/ring_writer.h"
#include "profiler/unwind/loaded_code.h"

namespace kymo::sampling {

// The files of one stack that the collector does not know. Of more than fit
// here, a later sample tells.
struct NewFiles {
  struct File {
    uint32_t number;
    uint64_t begin;
    uint64_t end;
  };
  File files[32];
  uint32_t count = 0;

  // 0: of none.
  uint32_t NumberOf(uint64_t address) const noexcept;
};

// The file's number, in the bits that an address of its code is marked with.
// Adds a file that the collector does not know to the NewFiles.
uint64_t MarkFile(void* new_files, const unwind::LoadedCode& code) noexcept;

// REQUIRES: they are on this thread's stack, so they stay loaded meanwhile.
// Others may not, and nothing is read of them. If the ring is full, or another
// thread is telling files at this moment, a later sample tells.
void TellFiles(const NewFiles& files, const RingWriter& ring,
               int32_t tid) noexcept;

// In a forked child, of which the collector knows no files.
void ForgetToldFiles() noexcept;

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_TARGET_TOLD_FILES_H_
