// saved_log.h - reads logs that processes left in a folder.
//
//   for (const std::string& path : FindLogs(folder)) {
//     KYMO_ASSIGN_OR_RETURN(SavedLog log, SavedLog::Map(path));
//     DecodeLog(log.facts(), log.records(), options, shard);
//   }
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_SAVED_LOG_H_
#define KYMO_BACKENDS_CUPTI_DECODE_SAVED_LOG_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cupti/decode/decode.h"
#include "profiler/base/mapped/shrink_guard.h"

namespace kymo::cupti {

// Paths of the logs in a folder, sorted.
std::vector<std::string> FindLogs(const std::string& folder);

// The facts of a header, which may hold anything.
LogFacts FactsOf(const LogHeader& header);

// Writes a log as a process would have left it.
absl::Status SaveLog(const LogHeader& header,
                     std::span<const std::byte> records,
                     const std::string& path);

class SavedLog {
 public:
  // kDataLoss if the file is no log, or is of another version.
  static absl::StatusOr<SavedLog> Map(const std::string& path);
  SavedLog(SavedLog&& other) noexcept;
  SavedLog& operator=(SavedLog&&) = delete;
  ~SavedLog();

  const LogFacts& facts() const { return facts_; }
  // Valid as long as the object. If the file shrinks meanwhile, zeros.
  std::span<const std::byte> records() const {
    return file_.subspan(kLogHeaderBytes);
  }

 private:
  SavedLog() = default;

  std::span<const std::byte> file_;
  ShrinkGuard guard_;
  LogFacts facts_;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_SAVED_LOG_H_
