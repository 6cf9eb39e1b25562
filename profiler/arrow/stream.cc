#include "profiler/arrow/stream.h"

#include <errno.h>

#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "profiler/base/strings.h"

namespace kymo::arrow {
namespace {

struct StreamState {
  std::unique_ptr<BatchSource> source;
  std::string error;
};

StreamState& StateOf(Stream* self) {
  return *static_cast<StreamState*>(self->private_data);
}

// Readers are C: no exception may pass through them.
template <typename Body>
int Guarded(Stream* self, const Body& body) noexcept {
  try {
    const absl::Status status = body();
    if (status.ok()) return 0;
    StateOf(self).error = std::string(ToStd(status.message()));
    return status.code() == absl::StatusCode::kCancelled ? EINTR : EIO;
  } catch (const std::bad_alloc&) {
    return ENOMEM;  // whose error says itself
  }
}

int GetSchema(Stream* self, Schema* out) {
  return Guarded(self, [&] {
    ExportSchema(StateOf(self).source->schema(), out);
    return absl::OkStatus();
  });
}

int GetNext(Stream* self, Array* out) {
  return Guarded(self, [&] {
    BatchSource& source = *StateOf(self).source;
    absl::StatusOr<std::shared_ptr<const Batch>> batch = source.Next();
    if (!batch.ok()) return batch.status();
    *out = {};
    if (*batch != nullptr) {
      ExportBatch(source.schema().fields, *std::move(batch), out);
    }
    return absl::OkStatus();
  });
}

const char* GetLastError(Stream* self) {
  const std::string& error = StateOf(self).error;
  return error.empty() ? nullptr : error.c_str();
}

void ReleaseStream(Stream* self) {
  delete static_cast<StreamState*>(self->private_data);
  self->release = nullptr;
}

}  // namespace

void ExportStream(std::unique_ptr<BatchSource> source, Stream* out) {
  auto state = std::make_unique<StreamState>();
  state->source = std::move(source);
  *out = {.get_schema = GetSchema,
          .get_next = GetNext,
          .get_last_error = GetLastError,
          .release = ReleaseStream};
  out->private_data = state.release();
}

}  // namespace kymo::arrow
