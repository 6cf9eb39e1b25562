#include "exporters/chrome/chrome_exporter.h"

#include <zlib.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/chrome/test_chrome.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

constexpr TimeNs kBase = 1'735'632'360 * kNsPerSecond;

// Names of the X events of each row, by tid.
std::map<double, std::vector<std::string>> SlicesByTid(
    const google::protobuf::Struct& json) {
  std::map<double, std::vector<std::string>> slices;
  for (const JsonMap& event : Events(json, "X")) {
    if (Text(event, "cat") == "Trace") continue;
    slices[Number(event, "tid")].push_back(Text(event, "name"));
  }
  return slices;
}

std::map<double, std::string> ThreadNames(
    const google::protobuf::Struct& json) {
  std::map<double, std::string> names;
  for (const JsonMap& event : Events(json, "M")) {
    if (Text(event, "name") != "thread_name") continue;
    names[Number(event, "tid")] =
        event.at("args").struct_value().fields().at("name").string_value();
  }
  return names;
}

TEST(ChromeExporterTest, GoldenRanges) {
  TestTrace t;
  t.SetWindow(kBase + 900'000, kBase + 1'400'000);
  t.AddProcess(4242, "app");
  const auto main = t.AddThread(4242, 4242, "app");
  t.AddAnnotation(main, "ProfilerStep#1", kBase + 950'000, kBase + 1'390'000);
  t.AddRange(main, "aten::add", kBase + 1'000'000, kBase + 1'250'500);
  t.Describe(5, {model::Arg::Int(t.Intern("bytes"), 4096),
                 model::Arg::Double(t.Intern("ratio"), 0.25),
                 model::Arg::String(t.Intern("dtype"), t.Intern("float"))});
  t.AddInstant(main, "[memory]", kBase + 1'260'007);
  t.AddRange(main, "never \"ends\"", kBase + 1'300'000, kBase + 1'390'000,
             model::ActivityType::kCpuOp, model::kEventOpen);
  const auto stream = t.AddStream(0, 7);
  t.AddRange(stream, "add_kernel(float*)", kBase + 1'150'000, kBase + 1'240'250,
             model::ActivityType::kConcurrentKernel);
  t.Describe(77, {model::Arg::Int(t.Intern("stream"), 7)});
  t.AddCounter(main, "queue", kBase + 1'000'000, 1.5);
  t.AddMetadata("distributedInfo", R"({"rank": 0, "world_size": 1})");
  t.AddMetadata("host_name", R"("n1")");
  t.AddMetadata("traceName", R"("not this one")");
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 1);
  CheckGolden(std::move(t).Build(), "ranges");
}

// Two processes on one device: operations, calls, kernels and copies, joined by
// External id, correlation and flows.
TEST(ChromeExporterTest, GoldenDevice) {
  TestTrace t;
  t.SetWindow(kBase, kBase + 1'000'000);
  t.AddMetadata("deviceProperties",
                R"([{"id": 0, "name": "GPU", "totalGlobalMem": 1024}])");
  t.AddProcess(10, "app");
  t.AddProcess(11, "worker");
  const auto grid = t.Intern("[4, 106, 1]");
  const auto main = t.AddThread(10, 10, "app");
  t.AddRange(main, "aten::mm", kBase + 1'000, kBase + 90'000);
  t.Describe(3);
  t.AddRange(main, "cudaLaunchKernel", kBase + 2'000, kBase + 9'000,
             model::ActivityType::kCudaRuntime);
  t.Describe(135'071, {model::Arg::Int(t.Intern("cbid"), 211)});
  t.AddRange(main, "cuLaunchKernel", kBase + 12'000, kBase + 19'000,
             model::ActivityType::kCudaDriver);
  t.Describe(135'072);
  t.AddRange(main, "cuCtxGetCurrent", kBase + 22'000, kBase + 23'000,
             model::ActivityType::kCudaDriver);
  t.Describe(135'073);
  const auto stream = t.AddStream(0, 7, /*pid=*/10);
  t.AddRange(stream, "gemm", kBase + 20'000, kBase + 40'000,
             model::ActivityType::kConcurrentKernel);
  t.Describe(135'071, {model::Arg::Int(t.Intern("context"), 1),
                       model::Arg::Json(t.Intern("grid"), grid)});
  t.AddRange(stream, "triton_fused", kBase + 50'000, kBase + 60'000,
             model::ActivityType::kConcurrentKernel);
  t.Describe(135'072);
  const auto other = t.AddThread(11, 11, "worker");
  t.AddRange(other, "cudaMemcpyAsync", kBase + 2'000, kBase + 9'000,
             model::ActivityType::kCudaRuntime);
  t.Describe(135'071);
  t.AddRange(t.AddStream(0, 0, /*pid=*/11), "Memset (Device)", kBase + 30'000,
             kBase + 31'000, model::ActivityType::kGpuMemset);
  t.AddRange(t.AddStream(0, 7, /*pid=*/11), "Memcpy HtoD (Pageable -> Device)",
             kBase + 20'000, kBase + 30'000, model::ActivityType::kGpuMemcpy);
  t.Describe(135'071, {model::Arg::Int(t.Intern("bytes"), 4'096)});
  CheckGolden(std::move(t).Build(), "device");
}

TEST(ChromeExporterTest, GoldenSamples) {
  TestTrace t;
  t.SetWindow(0, 20'000);
  t.AddProcess(7, "xz");
  const auto main = t.AddThread(7, 7, "xz");
  t.data().sampling_period_ns = 1'000;
  t.AddSample(main, 1'000, 1'000, {"main", "f"});
  t.AddSample(main, 2'000, 1'000, {"main", "f", "g"});
  t.AddSample(main, 3'400, 1'000, {"main"});  // late, but not a gap
  t.AddSample(main, 4'000, 1'000, {"main", "f"});
  t.AddSample(main, 9'000, 1'000, {"main", "f"});  // after a gap
  const auto leaf = t.data().stacks.AddFrame({.function = t.Intern("h"),
                                              .file = t.Intern("h.c"),
                                              .module = t.Intern("/bin/xz"),
                                              .line = 12});
  t.data().samples.push_back(
      {main, t.data().stacks.Push(model::kEmptyStack, leaf), 15'000, 1'000});
  CheckGolden(std::move(t).Build(), "samples");
}

TEST(ChromeExporterTest, GoldenEmptyTrace) {
  CheckGolden(TestTrace().Build(), "empty");
}

TEST(ChromeExporterTest, NamesReadBackUnchanged) {
  const std::vector<std::string> names = {
      "tab\there", "line\nbreak", "quo\"te",    "C:\\path",
      "λ→😀",       "\x01\x7f",    "operator<<", ""};
  TestTrace t;
  const auto main = t.AddThread(1, 1, "ma\"in");
  for (size_t i = 0; i < names.size(); ++i) {
    t.AddRange(main, names[i], 10 * i, 10 * i + 5);
  }
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  EXPECT_EQ(SlicesByTid(json).at(1), names);
  EXPECT_EQ(ThreadNames(json).at(1), "thread 1 (ma\"in)");
}

TEST(ChromeExporterTest, OverloadsAreBehindTheNames) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "aten::\"add\"", 0, 10);
  t.Describe(0);
  t.data().details.back().overload_name = t.Intern("Ten\\sor");
  t.AddRange(main, "late", 20, 30, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.Describe(0);
  t.data().details.back().overload_name = t.Intern("out");
  t.AddRange(main, "none", 40, 50);
  t.Describe(0);
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  EXPECT_EQ(SlicesByTid(json).at(1),
            (std::vector<std::string>{"aten::\"add\".Ten\\sor", "none"}));
  EXPECT_EQ(Text(Events(json, "b").at(0), "name"), "late.out");
  EXPECT_EQ(Text(Events(json, "e").at(0), "name"), "late.out");
}

TEST(ChromeExporterTest, LanesHaveIdsOfTheirOwn) {
  TestTrace t;
  t.AddThread(5, 9, "worker");
  t.AddRange(0, "a", 0, 10);
  t.AddThread(5, 9, "worker");
  t.AddRange(1, "b", 5, 15);
  t.AddThread(5, 9, "worker");
  t.AddRange(2, "c", 6, 16);
  t.AddThread(5, 1'000'000'000, "takes the first synthetic id");
  t.AddRange(3, "d", 0, 1);
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  const auto slices = SlicesByTid(json);
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_THAT(slices.at(9), ElementsAre("a"));
  EXPECT_THAT(slices.at(1'000'000'000), ElementsAre("d"));
  const auto names = ThreadNames(json);
  EXPECT_EQ(names.at(9), "thread 9 (worker)");
  EXPECT_EQ(names.at(1'000'000'001), "thread 9 (worker) (lane 2)");
  EXPECT_EQ(names.at(1'000'000'002), "thread 9 (worker) (lane 3)");
  EXPECT_THAT(slices.at(1'000'000'001), ElementsAre("b"));
}

TEST(ChromeExporterTest, IdsFitThirtyOneBits) {
  TestTrace t;
  const auto track = t.AddThread(int64_t{1} << 40, -17, "huge");
  t.AddRange(track, "a", 0, 10);
  t.AddSample(track, 3, 1, {"main"});
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  std::vector<double> ids;
  for (const JsonMap& event : Events(json, "X")) {
    if (Text(event, "cat") == "Trace") continue;
    ids.push_back(Number(event, "pid"));
    ids.push_back(Number(event, "tid"));
  }
  EXPECT_THAT(ids, Each(AllOf(Ge(1), Le(2147483647))));
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(std::set<double>(ids.begin(), ids.end()).size(), 3u);
}

TEST(ChromeExporterTest, SamplesStandDirectlyBelowTheirThread) {
  TestTrace t;
  for (const int tid : {3, 8}) {
    const auto track = t.AddThread(3, tid, "w");
    t.AddRange(track, "r", 0, 10);
  }
  t.AddSample(0, 1, 1, {"main"});
  t.AddSample(1, 1, 1, {"main"});
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  std::map<double, std::string> by_order;
  const auto names = ThreadNames(json);
  for (const JsonMap& event : Events(json, "M")) {
    if (Text(event, "name") != "thread_sort_index") continue;
    by_order[event.at("args")
                 .struct_value()
                 .fields()
                 .at("sort_index")
                 .number_value()] = names.at(Number(event, "tid"));
  }
  std::vector<std::string> order;
  for (const auto& [index, name] : by_order) order.push_back(name);
  EXPECT_THAT(order, ElementsAre("thread 3 (w)", "thread 3 (w) samples",
                                 "thread 8 (w)", "thread 8 (w) samples"));
}

TEST(ChromeExporterTest, AsyncRangesArePairsOutsideOfTheNesting) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "sync", 0, 10);
  t.AddRange(main, "async", 5, 2'500, model::ActivityType::kCpuOp,
             model::kEventAsync);
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  const auto begin = Events(json, "b");
  const auto end = Events(json, "e");
  ASSERT_EQ(begin.size(), 1u);
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(Number(begin[0], "id"), Number(end[0], "id"));
  EXPECT_EQ(Number(begin[0], "ts"), 0.005);
  EXPECT_EQ(Number(end[0], "ts"), 2.5);
}

TEST(ChromeExporterTest, LastOfEqualArgumentsAndMetadataCounts) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10);
  const auto key = t.Intern("k");
  t.Describe(0, {model::Arg::Int(key, 1), model::Arg::Int(key, 2)});
  t.AddMetadata("m", "1");
  t.AddMetadata("m", "not json");
  const std::string text = ChromeText(std::move(t).Build());
  EXPECT_THAT(text, testing::HasSubstr(",\"k\":2,"));
  EXPECT_THAT(text, testing::HasSubstr("\"m\": \"not json\",\n"));
  EXPECT_THAT(text,
              testing::Not(testing::AnyOf(testing::HasSubstr("\"m\": 1"),
                                          testing::HasSubstr("\"k\":1"))));
}

TEST(ChromeExporterTest, CountersOfOneNameOnTwoThreadsStayApart) {
  TestTrace t;
  t.AddThread(1, 1, "a");
  t.AddThread(1, 2, "b");
  t.AddCounter(0, "depth", 1, 1);
  t.AddCounter(0, "other", 1, 1);
  t.AddCounter(1, "depth", 1, 2);
  const auto counters =
      Events(ParseJson(ChromeText(std::move(t).Build())), "C");
  ASSERT_EQ(counters.size(), 3u);
  EXPECT_EQ(Number(counters[0], "id"), 1);
  EXPECT_EQ(counters[1].count("id"), 0u);
  EXPECT_EQ(Number(counters[2], "id"), 2);
}

model::Trace ManyRanges(int count) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < count; ++i) {
    t.AddRange(main, "f" + std::to_string(i % 50), 100 * i, 100 * i + 70);
  }
  return std::move(t).Build();
}

TEST(ChromeExporterTest, SameBytesForAnyNumberOfThreads) {
  const model::Trace trace = ManyRanges(300'000);
  const std::string parallel = ChromeText(trace);
  const ParallelismLimit limit(1);
  EXPECT_TRUE(ChromeText(trace) == parallel);
}

TEST(ChromeExporterTest, GzipHoldsTheSameText) {
  const model::Trace trace = ManyRanges(1'000);
  ExportOptions options;
  options.gzip = true;
  std::vector<std::string> names;
  const std::string folder = testing::TempDir() + "/chrome_gzip";
  OutputDirectory out(folder);
  const auto files = NewChromeExporter()->Export(trace, options, out);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre("trace.json.gz"));
  gzFile file = gzopen((folder + "/trace.json.gz").c_str(), "rb");
  std::string text(10 << 20, '\0');
  text.resize(gzread(file, text.data(), static_cast<unsigned>(text.size())));
  gzclose(file);
  std::string expected = ChromeText(trace);
  expected.replace(expected.find("trace.json\""), 11, "trace.json.gz\"");
  EXPECT_TRUE(text == expected);
}

TEST(ChromeExporterTest, ProgressRisesToOne) {
  std::vector<double> seen;
  ExportOptions options;
  options.progress = [&](double part) { seen.push_back(part); };
  Export(*NewChromeExporter(), ManyRanges(200'000), options);
  EXPECT_GE(seen.size(), 3u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_THAT(seen, Each(Le(1.0)));
  EXPECT_EQ(seen.back(), 1.0);
}

class FailingDirectory : public OutputDirectory {
 public:
  FailingDirectory() : OutputDirectory("full") {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(std::string_view) override {
    return std::make_unique<Sink>();
  }

 private:
  class Sink : public ByteSink {
    absl::Status Append(std::string_view bytes) override {
      written_ += bytes.size();
      return written_ > 5'000'000 ? absl::ResourceExhaustedError("disk full")
                                  : absl::OkStatus();
    }
    absl::Status Commit() override { return absl::OkStatus(); }
    size_t written_ = 0;
  };
};

TEST(ChromeExporterTest, FullDiskIsAnError) {
  FailingDirectory out;
  EXPECT_EQ(
      NewChromeExporter()->Export(ManyRanges(300'000), {}, out).status().code(),
      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kymo
