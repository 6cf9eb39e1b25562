#include "profiler/library/emission.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/library/emit_text.h"

namespace kymo::internal {
namespace {

// Whether the thread emits, by interface.
bool& IsOnThread(std::string_view interface) {
  thread_local bool nvtx = false;
  thread_local bool itt = false;
  return interface == "ITT" ? itt : nvtx;
}

// Whether an emission of all threads is on, by interface.
std::atomic<bool>& IsOnEverywhere(std::string_view interface) {
  static std::atomic<bool> nvtx = false;
  static std::atomic<bool> itt = false;
  return interface == "ITT" ? itt : nvtx;
}

struct Shared {
  EmissionSink sink;
  EmissionOptions options;
  Producers producers;
};

// An asynchronous range, between its start and its end.
struct OpenAsync : ObserverContext {
  explicit OpenAsync(uint64_t id) : id(id) {}
  const uint64_t id;
};

std::unique_ptr<ObserverContext> Begin(Shared& shared,
                                       const OperationView& operation) {
  const std::string name =
      shared.options.full_names
          ? EmittedName(operation, &shared.producers,
                        shared.options.stashed_backward_seq
                            ? SequenceWords::kStashedBackward
                            : SequenceWords::kSame)
          : std::string(operation.name);
  if (!operation.is_async) {
    shared.sink.push(name.c_str());
    return nullptr;
  }
  if (shared.sink.start == nullptr) return nullptr;
  return std::make_unique<OpenAsync>(shared.sink.start(name.c_str()));
}

void End(Shared& shared, const OperationView& operation,
         const ObserverContext* context) {
  if (!operation.outputs.empty()) {
    shared.producers.Add(operation.handle, operation.outputs);
  }
  if (!operation.is_async) {
    shared.sink.pop();
  } else if (context != nullptr && shared.sink.end != nullptr) {
    shared.sink.end(static_cast<const OpenAsync*>(context)->id);
  }
}

RecordFunctionCallback MakeCallback(std::shared_ptr<Shared> shared) {
  const bool shapes = shared->options.record_shapes;
  const bool full = shared->options.full_names;
  return RecordFunctionCallback(
             [shared](const OperationView& operation) {
               return Begin(*shared, operation);
             },
             [shared](const OperationView& operation,
                      ObserverContext* context) {
               End(*shared, operation, context);
             })
      .needs_inputs(shapes)
      .needs_outputs(shapes)
      .needs_ids(full);
}

}  // namespace

absl::Status Emission::Start(const EmissionSink& sink,
                             const EmissionOptions& options) {
  if (is_on()) {
    return absl::FailedPreconditionError(absl::StrCat(
        sink.interface, " annotation context manager is not reentrant"));
  }
  bool& is_on_thread = IsOnThread(sink.interface);
  std::atomic<bool>& is_on_everywhere = IsOnEverywhere(sink.interface);
  if (is_on_thread || is_on_everywhere ||
      (options.all_threads && is_on_everywhere.exchange(true))) {
    return absl::FailedPreconditionError(
        "Profiler is already enabled on this thread.");
  }
  if (options.all_threads) {
    on_all_ = &is_on_everywhere;
  } else {
    is_on_thread = true;
    on_thread_ = &is_on_thread;
  }
  if (sink.push == nullptr || sink.pop == nullptr) return absl::OkStatus();
  auto shared = std::make_shared<Shared>();
  shared->sink = sink;
  shared->options = options;
  RecordFunctionCallback callback = MakeCallback(std::move(shared));
  callback_ = options.all_threads ? AddGlobalCallback(std::move(callback))
                                  : AddThreadLocalCallback(std::move(callback));
  return absl::OkStatus();
}

absl::Status Emission::Stop() {
  if (!is_on()) return absl::OkStatus();
  if (on_thread_ != nullptr && on_thread_ != &IsOnThread("NVTX") &&
      on_thread_ != &IsOnThread("ITT")) {
    return absl::FailedPreconditionError(
        "an emission is stopped by the thread that started it");
  }
  if (callback_ != 0) RemoveCallback(std::exchange(callback_, 0));
  if (on_thread_ != nullptr) *std::exchange(on_thread_, nullptr) = false;
  if (on_all_ != nullptr) *std::exchange(on_all_, nullptr) = false;
  return absl::OkStatus();
}

}  // namespace kymo::internal
