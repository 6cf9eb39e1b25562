// file_number.h - a small number for each loaded file that stacks are in.
//
//   LoadedCode code;
//   if (FindLoadedCode(pc, &code)) number = FileNumber(code.identity);
//
// A library that is loaded where another one was has the same addresses, but
// another number. An address with its file's number says which code it was,
// also after the file is unloaded. A file that is unloaded and loaded again at
// the same place keeps its number.
//
// Limit: kMostFiles files of a process get a number. All others get 0. Of those
//   nobody can tell which one an address belongs to.
// Threads: any, also signal handlers: no lock, no allocation, one probe for a
//   known file. A forked child has its parent's numbers.
#ifndef KYMO_PROFILER_UNWIND_FILE_NUMBER_H_
#define KYMO_PROFILER_UNWIND_FILE_NUMBER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kymo::unwind {

inline constexpr int kFileBits = 12;
// One less than the size of the table, because 0 is no number.
inline constexpr uint32_t kMostFiles = (1u << kFileBits) - 1;

// By number; [0] stays 0.
extern constinit std::atomic<uint64_t> numbered_files[kMostFiles + 1];

// For a file that is not where it is looked for first.
uint32_t FileNumberSlow(uint64_t identity, uint32_t first) noexcept;

// The number of the file with this LoadedCode::identity, from 1 to kMostFiles;
// 0 if there are more files.
inline uint32_t FileNumber(uint64_t identity) noexcept {
  const uint32_t first = static_cast<uint32_t>(identity >> (64 - kFileBits));
  if (numbered_files[first].load(std::memory_order_relaxed) == identity &&
      first != 0) [[likely]] {
    return first;
  }
  return FileNumberSlow(identity, first);
}

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_FILE_NUMBER_H_
