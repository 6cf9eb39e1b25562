// Samples of a pprof profile, written by PprofWriter and by protobuf's
// serialiser.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "exporters/proto/proto_writer.h"
#include "exporters/stacks/pprof_writer.h"
#include "exporters/stacks/profile.pb.h"
#include "tests/support/test_trace.h"

namespace kymo::stacks {
namespace {

constexpr uint64_t kSamples = 10'000;
constexpr uint64_t kFrames = 20;
constexpr uint64_t kLocations = 1'000;

class StringSink final : public ByteSink {
 public:
  explicit StringSink(std::string& out) : out_(out) {}
  absl::Status Append(std::string_view bytes) override {
    out_.append(bytes);
    return absl::OkStatus();
  }
  absl::Status Commit() override { return absl::OkStatus(); }

 private:
  std::string& out_;
};

// Calls write(locations, values) for each sample.
template <typename Write>
void ForEachSample(const Write& write) {
  std::vector<uint64_t> locations(kFrames);
  int64_t values[] = {1, 0};
  for (uint64_t i = 0; i < kSamples; ++i) {
    for (uint64_t depth = 0; depth < kFrames; ++depth) {
      locations[depth] = (i * 7'919 + depth * 31) % kLocations + 1;
    }
    values[1] = 1'000'000 + static_cast<int64_t>(i);
    write(locations, values);
  }
}

// The samples with what PprofWriter writes around them.
std::string ByPprofWriter(const model::Trace& trace) {
  std::string out;
  StringSink sink(out);
  PprofWriter pprof(trace, sink);
  ForEachSample(
      [&](const std::vector<uint64_t>& locations, const int64_t(&values)[2]) {
        pprof.AddSample(locations, values, /*labels=*/"");
      });
  if (!pprof.Finish({}).ok()) std::abort();
  return out;
}

std::string ByProtobuf() {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  schema::Sample sample;  // reused, so that no sample allocates
  ForEachSample([&](const std::vector<uint64_t>& locations,
                    const int64_t(&values)[2]) {
    sample.mutable_location_id()->Assign(locations.begin(), locations.end());
    sample.mutable_value()->Assign(values, values + 2);
    coded.WriteTag(static_cast<uint32_t>(proto::Tag(
        schema::Profile::kSampleFieldNumber, proto::WireType::kBytes)));
    coded.WriteVarint32(static_cast<uint32_t>(sample.ByteSizeLong()));
    sample.SerializeWithCachedSizes(&coded);
  });
  coded.Trim();
  return out;
}

template <bool kByProtobuf>
void BM_Samples(benchmark::State& state) {
  const model::Trace trace = TestTrace().Build();
  const std::string samples = ByProtobuf();
  if (ByPprofWriter(trace).find(samples) == std::string::npos) std::abort();
  for (auto _ : state) {
    benchmark::DoNotOptimize(kByProtobuf ? ByProtobuf() : ByPprofWriter(trace));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kSamples));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(samples.size()));
}
BENCHMARK(BM_Samples<false>)->Name("BM_Samples_Kymo");
BENCHMARK(BM_Samples<true>)->Name("BM_Samples_Protobuf");

}  // namespace
}  // namespace kymo::stacks
