#include "exporters/stacks/speedscope.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/stacks/stacks_exporter.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Text(const model::Trace& trace) {
  ExportOptions options;
  options.settings["stacks_formats"] = "speedscope";
  return Export(*NewStacksExporter(), trace, options)["stacks.speedscope.json"];
}

const auto& List(const Struct& json, const char* key) {
  return json.fields().at(key).list_value().values();
}

double Number(const Struct& json, const std::string& key) {
  return json.fields().at(key).number_value();
}

// A profile as text, one line per event ("O main 0") or sample ("main;f 10");
// a failure where it breaks a rule of the format.
struct Profile {
  std::string name;
  std::vector<std::string> lines;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : json_(ParseJson(text)) {
    for (const Value& frame :
         List(json_.fields().at("shared").struct_value(), "frames")) {
      const auto& fields = frame.struct_value().fields();
      std::string name = fields.at("name").string_value();
      if (fields.contains("file")) {
        absl::StrAppend(&name, "@", fields.at("file").string_value(), ":",
                        fields.at("line").number_value());
      }
      frames_.push_back(std::move(name));
    }
  }

  std::vector<Profile> Read() {
    EXPECT_EQ(json_.fields().at("$schema").string_value(),
              "https://www.speedscope.app/file-format-schema.json");
    std::vector<Profile> profiles;
    for (const Value& value : List(json_, "profiles")) {
      const Struct& profile = value.struct_value();
      EXPECT_EQ(profile.fields().at("unit").string_value(), "nanoseconds");
      profiles.push_back(
          {profile.fields().at("name").string_value(),
           profile.fields().at("type").string_value() == "evented"
               ? Events(profile)
               : Samples(profile)});
    }
    EXPECT_FALSE(profiles.empty());
    return profiles;
  }

 private:
  const std::string& Frame(double position) const {
    return frames_.at(static_cast<size_t>(position));
  }

  std::vector<std::string> Events(const Struct& profile) const {
    std::vector<std::string> lines;
    std::vector<double> open;
    double last = Number(profile, "startValue");
    for (const Value& value : List(profile, "events")) {
      const Struct& event = value.struct_value();
      const std::string type = event.fields().at("type").string_value();
      const double frame = Number(event, "frame");
      EXPECT_GE(Number(event, "at"), last);
      last = Number(event, "at");
      if (type == "O") {
        open.push_back(frame);
      } else {
        EXPECT_FALSE(open.empty());
        if (open.empty()) break;
        EXPECT_EQ(open.back(), frame);
        open.pop_back();
      }
      lines.push_back(absl::StrCat(type, " ", Frame(frame), " ", last));
    }
    EXPECT_THAT(open, IsEmpty());
    EXPECT_LE(last, Number(profile, "endValue"));
    return lines;
  }

  std::vector<std::string> Samples(const Struct& profile) const {
    const auto& samples = List(profile, "samples");
    const auto& weights = List(profile, "weights");
    EXPECT_EQ(samples.size(), weights.size());
    std::vector<std::string> lines;
    double total = 0;
    for (int i = 0; i < samples.size(); ++i) {
      std::string line;
      for (const Value& frame : samples[i].list_value().values()) {
        absl::StrAppend(&line, line.empty() ? "" : ";",
                        Frame(frame.number_value()));
      }
      lines.push_back(absl::StrCat(line, " ", weights[i].number_value()));
      total += weights[i].number_value();
    }
    EXPECT_EQ(total, Number(profile, "endValue"));
    return lines;
  }

  const Struct json_;
  std::vector<std::string> frames_;
};

std::vector<Profile> Profiles(TestTrace t) {
  return Reader(Text(std::move(t).Build())).Read();
}

TEST(SpeedscopeTest, RangesOpenAndClose) {
  TestTrace t;
  t.SetWindow(1'000, 1'400);
  t.AddProcess(1, "app");
  t.AddThread(1, 2, "worker");
  t.AddRange(0, "forward", 1'010, 1'100);
  t.AddRange(0, "mm", 1'020, 1'050);
  t.AddInstant(0, "tick", 1'060);
  t.AddRange(0, "mm", 1'070, 1'100);
  t.AddRange(0, "empty", 1'200, 1'200);
  const auto profiles = Profiles(std::move(t));
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles[0].name, "app 2 worker");
  EXPECT_THAT(
      profiles[0].lines,
      ElementsAre("O forward 10", "O mm 20", "C mm 50", "O mm 70", "C mm 100",
                  "C forward 100", "O empty 200", "C empty 200"));
}

TEST(SpeedscopeTest, SamplesWeighTheirTime) {
  TestTrace t;
  t.AddThread(1, 2, "worker");
  t.AddRange(0, "r", 0, 10);
  t.AddThread(1, 3, "other");
  t.AddSample(0, 1, 5, {"main", "f"});
  t.AddSample(0, 2, 7, {});
  t.AddSample(0, 3, -1, {"main"});
  const auto leaf = t.data().stacks.AddFrame(
      {.function = t.Intern("h"), .file = t.Intern("h.c"), .line = 12});
  t.data().samples.push_back(
      {1, t.data().stacks.Push(model::kEmptyStack, leaf), 4, 9});
  const auto profiles = Profiles(std::move(t));
  ASSERT_EQ(profiles.size(), 3u);
  EXPECT_EQ(profiles[1].name, "process 1 2 worker samples");
  EXPECT_THAT(profiles[1].lines, ElementsAre("main;f 5", " 7", "main 0"));
  EXPECT_THAT(profiles[2].lines, ElementsAre("h@h.c:12 9"));
}

TEST(SpeedscopeTest, EmptyTraceHasAnEmptyProfile) {
  const auto profiles = Profiles(TestTrace());
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_THAT(profiles[0].lines, IsEmpty());
}

TEST(SpeedscopeTest, OddNamesStayAsTheyAre) {
  TestTrace t;
  t.AddThread(1, 2, "a\"b");
  t.AddRange(0, "quo\"te\n\xFF", 0, 1);
  t.AddRange(0, "", 2, 3);
  const auto profiles = Profiles(std::move(t));
  EXPECT_EQ(profiles[0].name, "process 1 2 a\"b");
  EXPECT_THAT(profiles[0].lines,
              ElementsAre("O quo\"te\n\uFFFD 0", "C quo\"te\n\uFFFD 1",
                          "O [unknown] 2", "C [unknown] 3"));
}

TEST(SpeedscopeTest, RandomTracesKeepTheRules) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    TestTrace t;
    t.AddThread(1, 1, "main");
    std::vector<TimeNs> ends = {10'000};
    TimeNs now = 0;
    size_t ranges = 0;
    while (now < 9'000) {
      while (ends.size() > 1 && ends.back() <= now) ends.pop_back();
      const TimeNs end =
          now + static_cast<TimeNs>(
                    random() % static_cast<uint64_t>(ends.back() - now + 1));
      const bool is_async = random() % 9 == 0;
      t.AddRange(0, std::to_string(random() % 5), now, end,
                 model::ActivityType::kCpuOp,
                 is_async ? model::kEventAsync : 0);
      if (!is_async) {
        ends.push_back(end);
        ++ranges;
      }
      if (random() % 2) now += static_cast<TimeNs>(random() % 50);
    }
    const auto profiles = Profiles(std::move(t));
    ASSERT_EQ(profiles.size(), 1u);
    EXPECT_EQ(profiles[0].lines.size(), 2 * ranges);
    if (HasFailure()) break;
  }
}

TEST(SpeedscopeTest, SameBytesForAnyNumberOfThreads) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < 100'000; ++i) {
    t.AddRange(0, "f" + std::to_string(i % 50), 100 * i, 100 * i + 70);
  }
  const model::Trace trace = std::move(t).Build();
  const std::string parallel = Text(trace);
  const ParallelismLimit limit(1);
  EXPECT_TRUE(Text(trace) == parallel);
}

}  // namespace
}  // namespace kymo
