// test_null_directory.h - an output folder that counts bytes and keeps none.
//
//   NullDirectory out;
//   ASSERT_TRUE(exporter.Export(trace, out).ok());
//   state.SetBytesProcessed(out.bytes());
//
// For benchmarks and tests of exporters whose files nobody reads.
// Threads: one at a time, its sinks included.
#ifndef KYMO_TESTS_SUPPORT_TEST_NULL_DIRECTORY_H_
#define KYMO_TESTS_SUPPORT_TEST_NULL_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/sink.h"

namespace kymo {

class NullDirectory : public OutputDirectory {
 public:
  NullDirectory() : OutputDirectory("nowhere") {}
  // The sink must not outlive the folder.
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(std::string_view) override {
    return std::make_unique<Sink>(bytes_);
  }
  // The bytes of all files.
  int64_t bytes() const { return bytes_; }

 private:
  class Sink : public ByteSink {
   public:
    explicit Sink(int64_t& bytes) : bytes_(bytes) {}
    absl::Status Append(std::string_view bytes) override {
      bytes_ += static_cast<int64_t>(bytes.size());
      return absl::OkStatus();
    }
    absl::Status Commit() override { return absl::OkStatus(); }

   private:
    int64_t& bytes_;
  };

  int64_t bytes_ = 0;
};

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_NULL_DIRECTORY_H_
