// stream.h - batches, made one after the other, as a stream of Arrow.
//
//   kymo::arrow::Stream stream;
//   ExportStream(std::make_unique<TableBatches>(...), &stream);
//   Take(&stream);   // the reader; it calls stream.release
//
// Errors: what Next() returns or throws becomes the stream's error, with its
//   message.
// Threads: a reader calls one at a time, from any thread.
#ifndef KYMO_PROFILER_ARROW_STREAM_H_
#define KYMO_PROFILER_ARROW_STREAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "profiler/arrow/batch.h"
#include "profiler/arrow/c_data.h"

namespace kymo::arrow {

// Where batches come from.
class BatchSource {
 public:
  BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;
  virtual ~BatchSource() = default;

  // Never changes.
  virtual const TableSchema& schema() const = 0;
  // Null: there is no more.
  virtual absl::StatusOr<std::shared_ptr<const Batch>> Next() = 0;
};

// `out` is whatever it was before.
void ExportStream(std::unique_ptr<BatchSource> source, Stream* out);

}  // namespace kymo::arrow

#endif  // KYMO_PROFILER_ARROW_STREAM_H_
