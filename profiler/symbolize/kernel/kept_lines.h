// kept_lines.h - lines that one run reads for all runs until the next boot.
//
//   KeptLines::Write(path, lines);
//   const std::optional<KeptLines> kept = KeptLines::Open(path);
//   if (kept) kept->lines()
//
// The file is its user's alone (mode 0600), and has the boot's id in its first
// line. Nothing else is trusted: not a file of another user, of another boot or
// that others may read or write, and no link.
//
// Errors:  without a file that can be trusted, there is nothing; what cannot be
//          written is not kept.
// Threads: any. Readers see the old file or the new one.
// Cost:    the file is mapped: who searches it reads the pages that it touches.
#ifndef KYMO_PROFILER_SYMBOLIZE_KERNEL_KEPT_LINES_H_
#define KYMO_PROFILER_SYMBOLIZE_KERNEL_KEPT_LINES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kymo::symbolize {

class KeptLines {
 public:
  static std::optional<KeptLines> Open(const std::string& path);
  static bool Write(const std::string& path, std::string_view lines);

  KeptLines(KeptLines&& other) noexcept;
  KeptLines& operator=(KeptLines&&) = delete;
  ~KeptLines();

  std::string_view lines() const { return lines_; }

 private:
  KeptLines(void* base, size_t bytes) : base_(base), bytes_(bytes) {}

  void* base_;
  size_t bytes_;
  std::string_view lines_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_KERNEL_KEPT_LINES_H_
