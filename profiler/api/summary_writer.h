// summary_writer.h - your scalars and a graph of operations in TensorBoard.
//
//   #include "kymo/profile.h"
//
//   kymo::Profile profile({.record_shapes = true});
//   absl::Status status = profile.Start();
//   auto writer = kymo::SummaryWriter::Create("runs/baseline");
//   if (!writer.ok()) return writer.status();
//   int64_t step = 0;
//   for (const Batch& batch : batches) {
//     status.Update((*writer)->AddScalar("train/loss", Train(batch), step++));
//   }
//   status.Update(profile.Stop());
//   status.Update((*writer)->AddGraph(profile.trace()));
//   status.Update((*writer)->Close());
//
// Then look at it:
//
//   $ tensorboard --logdir runs
//
// The same as PyTorch's SummaryWriter with add_scalar and add_graph. A folder
// is a run. Create() without a folder makes a new one in `runs`. The part of a
// tag before its first slash is a group of charts. A writer makes one file,
// events.out.tfevents.<seconds>.<host>.<pid>.<n>, which TensorBoard reads while
// it grows.
//
// Writing: the writer keeps what was added. It writes after 64 KiB, by the
//   first call 5 seconds or more after the last write, by Flush() and by
//   Close().
// Threads: any, concurrently. A forked child must make its own writer.
// Errors:  a full disk is kResourceExhausted. The file then ends with its last
//   whole record, and every further call returns the error again. Calls after
//   Close() are kFailedPrecondition.
#ifndef KYMO_PROFILER_API_SUMMARY_WRITER_H_
#define KYMO_PROFILER_API_SUMMARY_WRITER_H_

#include <concepts>
#include <cstdint>
#include <functional>
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
  // Makes the folder `log_dir` and a file in it. The default is PyTorch's
  // folder: runs/<local time>_<host><comment>, for example
  // runs/May04_22-14-54_node1. `comment` is for the default folder only.
  static absl::StatusOr<std::unique_ptr<SummaryWriter>> Create(
      const std::string& log_dir = "", std::string_view comment = "");
  // Closes the file and ignores errors; call Close() to get them.
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  // Adds a point to the curve `tag`. `wall_time_s` is in seconds since the
  // epoch; without one it is now. The value is stored as a float; it may be NaN
  // or infinite.
  absl::Status AddScalar(std::string_view tag, double value, int64_t step,
                         std::optional<double> wall_time_s = std::nullopt);

  // Adds the operations of a recording as a graph. The run metadata `profile`
  // has the time and memory of each. A run has one graph, the one that was
  // added last. Null is kFailedPrecondition; Profile::trace() is null before a
  // cycle has finished.
  absl::Status AddGraph(const model::Trace* trace);
  // Calls `callable` once, records what this thread does meanwhile, and adds
  // that graph:
  //
  //   status = writer.AddGraph([&] { model.Forward(batch); });
  //
  // The inputs of operations are recorded, too. The errors are those of
  // Profile::Start() as well; then `callable` is not called. If a session
  // records this thread, the error is kFailedPrecondition.
  template <std::invocable Callable>
  absl::Status AddGraph(Callable&& callable) {
    return AddGraphOfCall([&callable] { std::invoke(callable); });
  }

  // Writes everything that was added.
  absl::Status Flush();
  // Writes everything that was added and closes the file.
  absl::Status Close();

  // The folder of the run, and the file in it.
  const std::string& log_dir() const noexcept { return log_dir_; }
  const std::string& path() const noexcept { return path_; }

 private:
  SummaryWriter(std::string log_dir, std::string path, int fd);

  absl::Status AddGraphOfCall(const std::function<void()>& call);
  absl::Status Added();  // after each record
  absl::Status Write();
  absl::Status Fail(int error);

  const std::string log_dir_;
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
