// jit_readers.h - reads the files in which programs name the code that they
// made at run time, while the files grow.
//
//   PerfMapReader reader;
//   reader.Read(fd, now_ns, code);    // again and again
//   reader.Finish(code);              // nobody writes any more
//
// The files are the profiled program's: nothing in them is believed, and no
// size that they name is allocated. A damaged file gives what it has up to the
// damage.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_JIT_READERS_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_JIT_READERS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/symbolize/jit/jit_code.h"

namespace kymo::symbolize {

// Of one file.
inline constexpr off_t kMostJitBytes = off_t{1} << 30;

// A perf map: lines "start size name", both numbers hexadecimal. It has no
// times. A line that was not there when the map was read before is newer than
// that, so a sample from before does not get its name if it can have another.
class PerfMapReader {
 public:
  void Read(int fd, TimeNs now_ns, JitCode& code);
  void Finish(JitCode& code);

  // The map is larger than what was read of it.
  bool is_too_large() const noexcept { return is_too_large_; }

 private:
  void AddLine(std::string_view line, JitCode& code) const;
  void AddLines(std::string_view text, JitCode& code);

  bool IsWhatWasRead(int fd) const;

  off_t read_bytes_ = 0;
  std::string last_read_;  // the bytes before read_bytes_
  TimeNs since_ns_ = 0;    // when the map was read before
  std::string rest_;       // of a line that is not complete
  bool is_too_large_ = false;
};

// A jitdump: records with times of CLOCK_MONOTONIC (tools/perf of Linux,
// jitdump-specification). Its addresses are absolute.
class JitDumpReader {
 public:
  // `epoch_offset_ns` turns CLOCK_MONOTONIC into time since the epoch.
  explicit JitDumpReader(TimeNs epoch_offset_ns,
                         off_t most_bytes = kMostJitBytes)
      : epoch_offset_ns_(epoch_offset_ns), most_bytes_(most_bytes) {}

  void Read(int fd, JitCode& code);

  // The dump has more to read, apart from the code in it, than what was read.
  bool is_too_large() const noexcept { return read_bytes_ >= most_bytes_; }

 private:
  struct Record {
    uint32_t id = 0;
    uint32_t size_bytes = 0;
    uint64_t time_ns = 0;
  };
  bool ReadHeader(int fd);
  bool ReadRecord(int fd, uint64_t file_bytes, JitCode& code);
  void AddLoad(const Record& record, std::string_view body, JitCode& code);
  void AddMove(const Record& record, std::string_view body, JitCode& code);
  void ReadLines(std::string_view body);
  TimeNs TimeOf(const Record& record) const;

  const TimeNs epoch_offset_ns_;
  const off_t most_bytes_;
  uint64_t at_ = 0;  // in the file
  bool is_damaged_ = false;
  // The times are of a processor's counter that nothing explains. All code is
  // then there always, and what came later wins.
  bool has_ticks_ = false;
  off_t read_bytes_ = 0;
  std::string buffer_;
  // Of the code that the next record loads. The files are views of the text:
  // each line may have the same one, which may be long.
  uint64_t lines_address_ = 0;
  std::string lines_text_;
  std::vector<JitLine> lines_;
  // By the code's index: which of JitCode::functions() it is.
  std::unordered_map<uint64_t, size_t> loaded_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_JIT_READERS_H_
