// test_full_disk.h - a folder on a disk with little room.
//
//   FullDirectory out(/*room=*/100, FullAt::kAppend);
//   exporter.Export(trace, {}, out);     // kResourceExhausted
//   out.committed()                      // names of complete files
//
// With FullAt::kCommit bytes take room only when their file is committed: so a
// file of the system, which buffers, tells of a full disk last. With
// FullAt::kNoMemory appending beyond the room throws std::bad_alloc.
#ifndef KYMO_TESTS_SUPPORT_TEST_FULL_DISK_H_
#define KYMO_TESTS_SUPPORT_TEST_FULL_DISK_H_

#include <cstddef>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/sink.h"

namespace kymo {

enum class FullAt { kAppend, kCommit, kNoMemory };

class FullDirectory : public OutputDirectory {
 public:
  FullDirectory(size_t room, FullAt full_at)
      : OutputDirectory("/nowhere"), room_(room), full_at_(full_at) {}

  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    return std::make_unique<Sink>(*this, std::string(name));
  }
  void Remove(std::string_view name) noexcept override {
    committed_.erase(std::string(name));
  }
  const std::set<std::string>& committed() const { return committed_; }

 private:
  class Sink : public ByteSink {
   public:
    Sink(FullDirectory& disk, std::string name)
        : disk_(disk), name_(std::move(name)) {}
    absl::Status Append(std::string_view bytes) override {
      if (disk_.full_at_ != FullAt::kCommit) return disk_.Take(bytes.size());
      buffered_ += bytes.size();
      return absl::OkStatus();
    }
    absl::Status Commit() override {
      absl::Status status = disk_.Take(buffered_);
      if (status.ok()) disk_.committed_.insert(name_);
      return status;
    }

   private:
    FullDirectory& disk_;
    const std::string name_;
    size_t buffered_ = 0;
  };

  absl::Status Take(size_t bytes) {
    if (bytes > room_ && full_at_ == FullAt::kNoMemory) throw std::bad_alloc();
    if (bytes > room_) return absl::ResourceExhaustedError("disk full");
    room_ -= bytes;
    return absl::OkStatus();
  }

  size_t room_;
  const FullAt full_at_;
  std::set<std::string> committed_;
};

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_FULL_DISK_H_
