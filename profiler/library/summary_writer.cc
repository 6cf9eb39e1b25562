#include "kymo/summary_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exporters/tensorboard/event_file/event_file.h"
#include "exporters/tensorboard/program_graph.h"
#include "exporters/tensorboard/step_names.h"
#include "kymo/profile.h"
#include "profiler/base/clock.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/base/time.h"

namespace kymo {
namespace {

constexpr size_t kBufferBytes = 64 << 10;
constexpr int64_t kMaxDelayNs = 5 * kNsPerSecond;
constexpr char kGraphTag[] = "profile";

double NowSeconds() {
  return static_cast<double>(MonotonicNs() + EpochOffsetNs()) /
         static_cast<double>(kNsPerSecond);
}

absl::Status ErrnoStatus(int error, std::string doing) {
  return absl::Status(
      absl::ErrnoToStatusCode(error),
      absl::StrCat(doing, ": ", std::generic_category().message(error)));
}

// The names of months as Python's %b writes them, whatever the locale.
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// PyTorch's folder for a run that has no name.
std::string DefaultFolder(double now_s, const std::string& host,
                          std::string_view comment) {
  const time_t now = static_cast<time_t>(now_s);
  tm local = {};
  localtime_r(&now, &local);
  return absl::StrFormat("runs/%s%02d_%02d-%02d-%02d_%s%s",
                         kMonths[local.tm_mon], local.tm_mday, local.tm_hour,
                         local.tm_min, local.tm_sec, host, ToAbsl(comment));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SummaryWriter>> SummaryWriter::Create(
    const std::string& log_dir, std::string_view comment) {
  const double now_s = NowSeconds();
  const std::string host = tensorboard::HostName();
  const std::filesystem::path folder(
      log_dir.empty() ? DefaultFolder(now_s, host, comment) : log_dir);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return ErrnoStatus(error.value(), absl::StrCat("could not make folder '",
                                                   folder.string(), "'"));
  }
  for (int64_t number = 0;; ++number) {
    const std::string path =
        folder / tensorboard::EventFileName(static_cast<int64_t>(now_s), host,
                                            getpid(), number);
    const int fd = AboveStandardStreams(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd < 0 && (errno == EEXIST || errno == EINTR)) continue;
    if (fd < 0) {
      return ErrnoStatus(errno, absl::StrCat("could not make '", path, "'"));
    }
    std::unique_ptr<SummaryWriter> writer(new SummaryWriter(folder, path, fd));
    tensorboard::AppendFileVersion(writer->pending_, now_s);
    KYMO_RETURN_IF_ERROR(writer->Flush());
    return writer;
  }
}

SummaryWriter::SummaryWriter(std::string log_dir, std::string path, int fd)
    : log_dir_(std::move(log_dir)), path_(std::move(path)), fd_(fd) {}

SummaryWriter::~SummaryWriter() { Close().IgnoreError(); }

absl::Status SummaryWriter::AddScalar(std::string_view tag, double value,
                                      int64_t step,
                                      std::optional<double> wall_time_s) {
  const tensorboard::Scalar scalar = {
      .tag = std::string(tag),
      .value = value,
      .step = step,
      .wall_time_s = wall_time_s ? *wall_time_s : NowSeconds()};
  const std::lock_guard lock(mutex_);
  KYMO_RETURN_IF_ERROR(status_);
  tensorboard::AppendScalar(pending_, scalar);
  return Added();
}

absl::Status SummaryWriter::AddGraph(const model::Trace* trace) {
  if (trace == nullptr) {
    return absl::FailedPreconditionError(
        "AddGraph: there is no trace; stop the profile first");
  }
  const tensorboard::StepNames steps(trace->strings());
  const tensorboard::ProgramGraph graph(*trace, steps);
  const std::string graph_def = graph.GraphDef();
  const std::string run_metadata = graph.RunMetadata();
  const double now_s = NowSeconds();
  const std::lock_guard lock(mutex_);
  KYMO_RETURN_IF_ERROR(status_);
  tensorboard::AppendGraph(pending_, now_s, graph_def);
  tensorboard::AppendRunMetadata(pending_, now_s, kGraphTag, run_metadata);
  return Added();
}

absl::Status SummaryWriter::AddGraphOfCall(const std::function<void()>& call) {
  Profile profile({.record_shapes = true});
  KYMO_RETURN_IF_ERROR(profile.Start());
  call();
  KYMO_RETURN_IF_ERROR(profile.Stop());
  return AddGraph(profile.trace());
}

absl::Status SummaryWriter::Flush() {
  const std::lock_guard lock(mutex_);
  KYMO_RETURN_IF_ERROR(status_);
  return Write();
}

absl::Status SummaryWriter::Close() {
  const std::lock_guard lock(mutex_);
  KYMO_RETURN_IF_ERROR(status_);
  KYMO_RETURN_IF_ERROR(Write());
  // Network file systems report what they could not write only here.
  const int closed = close(std::exchange(fd_, -1));
  if (closed != 0 && errno != EINTR) return Fail(errno);
  status_ = absl::FailedPreconditionError(
      absl::StrCat("'", path_, "' is already closed"));
  return absl::OkStatus();
}

absl::Status SummaryWriter::Added() {
  const bool is_late = MonotonicNs() - last_write_ns_ >= kMaxDelayNs;
  if (pending_.size() < kBufferBytes && !is_late) return absl::OkStatus();
  return Write();
}

absl::Status SummaryWriter::Write() {
  last_write_ns_ = MonotonicNs();
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(errno);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  written_bytes_ += static_cast<int64_t>(pending_.size());
  pending_.clear();
  return absl::OkStatus();
}

// Half a record would hide from readers whatever came after it.
absl::Status SummaryWriter::Fail(int error) {
  status_ = ErrnoStatus(error, absl::StrCat("could not write '", path_, "'"));
  pending_.clear();
  if (fd_ >= 0) {
    // Nothing more can be done where this does not work either.
    [[maybe_unused]] const int cut = ftruncate(fd_, written_bytes_);
    close(std::exchange(fd_, -1));
  }
  return status_;
}

}  // namespace kymo
