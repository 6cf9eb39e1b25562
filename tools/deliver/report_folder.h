// report_folder.h - the folder into which a report exports, which may be that
// of the files that it reads.
//
//   ReportFolder out(folder, inputs.paths());
//   exporter.Export(trace, options, out);   // kInvalidArgument: it would
//                                           // replace what it reads
//
// Files that are read are neither replaced nor removed, by whatever path or
// link they were named. opened() tells which files the report may have made.
//
// Threads: as OutputDirectory.
#ifndef KYMO_TOOLS_DELIVER_REPORT_FOLDER_H_
#define KYMO_TOOLS_DELIVER_REPORT_FOLDER_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/sink.h"

namespace kymo::tools {

class ReportFolder final : public OutputDirectory {
 public:
  // `inputs`: files and folders of files.
  ReportFolder(std::string path, const std::vector<std::string>& inputs);

  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override;
  void Remove(std::string_view name) noexcept override;

  // The names that Open got, and whether a file was there before. Call it when
  // nobody writes any more.
  const std::map<std::string, bool>& opened() const { return opened_; }

 private:
  bool IsInput(const std::string& name) const noexcept;

  std::set<std::pair<dev_t, ino_t>> inputs_;
  std::mutex mutex_;
  std::map<std::string, bool> opened_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_DELIVER_REPORT_FOLDER_H_
