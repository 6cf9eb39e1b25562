// file_reader.h - reads small files of /proc and remembers those it cannot.
//
//   FileReader reader;
//   if (const auto text = reader.Read("/proc/stat", "/proc/stat")) Use(*text);
//   reader.unreadable();    // {"/proc/diskstats", EACCES}, ...
//
// Threads: one at a time.
#ifndef KYMO_BACKENDS_HOST_FILE_READER_H_
#define KYMO_BACKENDS_HOST_FILE_READER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kymo::host {

class FileReader {
 public:
  enum class Absent {
    kIsOdd,     // every kernel has the file
    kIsNormal,  // a process that has ended takes its files away
  };

  // The whole text, which lives until the next call. Nothing if the file cannot
  // be read; `kind` is then in unreadable(), unless the file may be absent and
  // is. Texts beyond 8 MiB are cut: on a machine with 512 cores, the line of
  // interrupts in /proc/stat can have 1 MiB.
  std::optional<std::string_view> Read(const std::string& path,
                                       const char* kind,
                                       Absent absent = Absent::kIsOdd);

  // Whether the file of the last call did not exist.
  bool was_absent() const noexcept { return was_absent_; }

  // Why each kind could not be read the first time: an errno.
  const std::map<std::string, int>& unreadable() const noexcept {
    return unreadable_;
  }

 private:
  std::string buffer_;
  bool was_absent_ = false;
  std::map<std::string, int> unreadable_;
};

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_FILE_READER_H_
