// summary_writer.h - what a program wants to see in TensorBoard: its own
// scalars, and the graph of its operations.
//
//   #include "kymo/summary_writer.h"
//
//   auto writer = kymo::SummaryWriter::Create("runs/baseline");
//   if (!writer.ok()) ...
//   for (int64_t step = 0; step < steps; ++step) {
//     status.Update((*writer)->AddScalar("train/loss", Train(), step));
//   }
//   status.Update((*writer)->AddGraph(profile.trace()));   // kymo/profile.h
//   status.Update((*writer)->Close());
//
//   tensorboard --logdir runs
//
// As PyTorch's SummaryWriter with add_scalar and add_graph. A writer makes one
// file, events.out.tfevents.<seconds>.<host>.<pid>.<n>, which TensorBoard reads
// while it grows; a folder is a run, and what precedes the first slash of a tag
// a group of charts.
//
// What is added is written after 64 KiB, by the first call 5 seconds after what
// was written last, by Flush and by Close.
//
// Errors:  Status. A full disk is kResourceExhausted: the file then ends with
//   its last whole record, and every further call returns the error again.
//   Calls after Close are kFailedPrecondition.
// Threads: all calls may come from any thread. A forked child must make a
//   writer of its own.
#ifndef KYMO_PROFILER_API_SUMMARY_WRITER_H_
#define KYMO_PROFILER_API_SUMMARY_WRITER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/model/trace.h"

namespace kymo {

class SummaryWriter {
 public:
  // Makes the folder and the file.
  static absl::StatusOr<std::unique_ptr<SummaryWriter>> Create(
      const std::string& log_dir);
  // Closes; errors of that are lost.
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  // One point of a curve. `wall_time_s` is since the epoch: now, if not given.
  // Values are kept as float; NaN and infinities are values.
  absl::Status AddScalar(std::string_view tag, double value, int64_t step,
                         std::optional<double> wall_time_s = std::nullopt);

  // The operations of a recording as a graph, with what each took in time and
  // memory under the run metadata `profile`. A run has one graph: the last.
  // Null, which is what a Profile without a finished cycle has for a trace, is
  // kFailedPrecondition.
  absl::Status AddGraph(const model::Trace* trace);

  // Writes what was added.
  absl::Status Flush();
  // The same, for the last time.
  absl::Status Close();

  const std::string& path() const noexcept { return path_; }

 private:
  SummaryWriter(std::string path, int fd);

  absl::Status Added();  // after each record
  absl::Status Write();
  absl::Status Fail(int error);

  const std::string path_;
  std::mutex mutex_;
  // The following are under mutex_.
  int fd_;
  std::string pending_;        // whole records
  int64_t written_bytes_ = 0;  // of whole records
  int64_t last_write_ns_ = 0;  // CLOCK_MONOTONIC
  absl::Status status_;        // why it no longer takes anything
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_SUMMARY_WRITER_H_
