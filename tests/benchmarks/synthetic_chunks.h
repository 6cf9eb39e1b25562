// synthetic_chunks.h - what a busy program of eight threads would have
// recorded.
//
//   const SyntheticChunks chunks({.ranges = 1'000'000});
//   model::TraceShard shard = chunks.NewShard();
//   stream::DecodeChunks(chunks.input(), shard);
//
// Each thread walks up and down a tree of calls, about six deep, with names at
// random: no pattern for a branch predictor to learn. Equal settings give equal
// bytes.
#ifndef KYMO_TESTS_BENCHMARKS_SYNTHETIC_CHUNKS_H_
#define KYMO_TESTS_BENCHMARKS_SYNTHETIC_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/layout.h"

namespace kymo::benchmarks {

struct SyntheticOptions {
  size_t ranges = 1'000'000;
  uint32_t threads = 8;
  uint32_t names = 200;
  // How many names the ranges inside of one name have; 0 = all. With few, the
  // same call paths come again and again.
  uint32_t callees = 0;
};

class SyntheticChunks {
 public:
  explicit SyntheticChunks(const SyntheticOptions& options);
  SyntheticChunks(const SyntheticChunks&) = delete;
  SyntheticChunks& operator=(const SyntheticChunks&) = delete;

  // Views of chunks and names that live as long as this.
  const stream::DecodeInput& input() const noexcept { return input_; }
  // A shard with the tracks of the threads.
  model::TraceShard NewShard() const;
  size_t ranges() const noexcept { return ranges_; }

 private:
  class Thread;

  const size_t ranges_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<record::Slot[]>> chunks_;
  stream::DecodeInput input_;
};

}  // namespace kymo::benchmarks

#endif  // KYMO_TESTS_BENCHMARKS_SYNTHETIC_CHUNKS_H_
