#include "exporters/tensorboard/program_graph.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/event.pb.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Decoded {
  schema::GraphDef graph;
  schema::RunMetadata metadata;

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const schema::NodeDef& node : graph.node()) {
      names.push_back(node.name());
    }
    return names;
  }
  // "name <- input".
  std::vector<std::string> Edges() const {
    std::vector<std::string> edges;
    for (const schema::NodeDef& node : graph.node()) {
      for (const std::string& input : node.input()) {
        edges.push_back(node.name() + " <- " + input);
      }
    }
    return edges;
  }
  std::map<std::string, schema::NodeExecStats> Stats() const {
    std::map<std::string, schema::NodeExecStats> stats;
    for (const auto& device : metadata.step_stats().dev_stats()) {
      for (const auto& node : device.node_stats()) {
        stats[node.node_name()] = node;
      }
    }
    return stats;
  }
};

Decoded Decode(TestTrace t, size_t max_nodes = ProgramGraph::kMaxNodes) {
  const model::Trace trace = std::move(t).Build();
  const StepNames steps(trace.strings());
  const ProgramGraph graph(trace, steps, max_nodes);
  Decoded decoded;
  EXPECT_TRUE(decoded.graph.ParseFromString(graph.GraphDef()));
  EXPECT_TRUE(decoded.metadata.ParseFromString(graph.RunMetadata()));
  return decoded;
}

TEST(ProgramGraphTest, NodesNestAndFollowTheOrderOfCalls) {
  TestTrace t;
  t.SetWindow(1'000'000'000, 1'100'000'000);
  const auto main = t.AddThread(1, 1, "main");
  for (int step = 0; step < 2; ++step) {
    const TimeNs at = 1'000'000'000 + 10'000'000 * step;
    t.AddAnnotation(main, "ProfilerStep#" + std::to_string(step), at,
                    at + 9'000'000);
    t.AddRange(main, "ns::forward", at, at + 5'000'000);
    t.AddRange(main, "bias", at, at + 1'000'000);
    t.AddRange(main, "matmul", at + 1'000'000, at + 4'000'000);
    t.AddRange(main, "backward", at + 5'000'000, at + 8'000'000);
  }
  t.data().memory.push_back(
      {.track = main, .time_ns = 1'002'000'000, .address = 64, .bytes = 4'096});
  const Decoded decoded = Decode(std::move(t));
  EXPECT_THAT(
      decoded.Names(),
      ElementsAre("ProfilerStep", "ProfilerStep/ns.forward",
                  "ProfilerStep/ns.forward/bias",
                  "ProfilerStep/ns.forward/matmul", "ProfilerStep/backward"));
  EXPECT_THAT(
      decoded.Edges(),
      ElementsAre(
          "ProfilerStep/ns.forward <- ProfilerStep",
          "ProfilerStep/ns.forward/bias <- ProfilerStep/ns.forward",
          "ProfilerStep/ns.forward/matmul <- ProfilerStep/ns.forward/bias",
          "ProfilerStep/backward <- ProfilerStep/ns.forward"));
  const schema::NodeDef& matmul = decoded.graph.node(3);
  EXPECT_EQ(matmul.op(), "matmul");
  EXPECT_EQ(matmul.device(), "/device:CPU:0");
  EXPECT_EQ(matmul.attr().at("calls").i(), 2);
  EXPECT_EQ(matmul.attr().at("total_ns").i(), 6'000'000);
  EXPECT_EQ(matmul.attr().at("self_ns").i(), 6'000'000);
  EXPECT_EQ(matmul.attr().at("type").s(), "cpu_op");
  EXPECT_EQ(decoded.graph.node(1).attr().at("name").s(), "ns::forward");
  EXPECT_GT(decoded.graph.versions().producer(), 0);

  const auto stats = decoded.Stats();
  EXPECT_EQ(stats.size(), 5);
  const schema::NodeExecStats& times =
      stats.at("ProfilerStep/ns.forward/matmul");
  EXPECT_EQ(times.all_end_rel_micros(), 6'000);
  ASSERT_EQ(times.memory_size(), 1);
  EXPECT_EQ(times.memory(0).total_bytes(), 4'096);
}

TEST(ProgramGraphTest, TheSpanOfABoxIsItsTime) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 3; ++i) {
    const TimeNs at = 100'000'000 * i;
    t.AddRange(main, "f", at, at + 9'000'000);
    t.AddRange(main, "g", at, at + 4'000'000);
    t.AddRange(main, "h", at + 4'000'000, at + 8'000'000);
  }
  const auto stats = Decode(std::move(t)).Stats();
  const auto start = [&](const char* name) {
    return stats.at(name).all_start_micros();
  };
  const auto end = [&](const char* name) {
    return start(name) + stats.at(name).all_end_rel_micros();
  };
  EXPECT_GT(start("f"), 0);
  EXPECT_EQ(end("f") - start("f"), 27'000);
  EXPECT_EQ(start("f/g"), start("f"));
  EXPECT_EQ(start("f/h"), end("f/g"));
  EXPECT_LE(end("f/h"), end("f"));
}

TEST(ProgramGraphTest, NodesHaveTimesEvenIfTheyTookNone) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "f", 0, 0);
  const auto stats = Decode(std::move(t)).Stats();
  EXPECT_GT(stats.at("f").all_start_micros(), 0);
  EXPECT_GT(stats.at("f").all_end_rel_micros(), 0);
}

TEST(ProgramGraphTest, KernelsStandBelowTheirDevice) {
  TestTrace t;
  t.AddRange(t.AddStream(1, 7), "sgemm", 0, 10,
             model::ActivityType::kConcurrentKernel);
  const Decoded decoded = Decode(std::move(t));
  EXPECT_THAT(decoded.Names(), ElementsAre("device 1", "device 1/sgemm"));
  EXPECT_EQ(decoded.graph.node(1).device(), "/device:GPU:1");
  EXPECT_EQ(decoded.metadata.step_stats().dev_stats(0).device(),
            "/device:GPU:1");
}

TEST(ProgramGraphTest, NamesAreUniqueAndMeanNothingElse) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const std::vector<std::string> names = {
      "a/b",          "^x:0", "/usr//bin/", "",  "\xFF",
      "\"q\" 'q' \\", "a:1",  "a_1",        "😀", std::string(65'536, 'x')};
  for (size_t i = 0; i < names.size(); ++i) {
    t.AddRange(main, names[i], static_cast<TimeNs>(10 * i),
               static_cast<TimeNs>(10 * i + 5));
  }
  t.AddRange(main, "a", 1'000, 1'100);
  t.AddRange(main, "b", 1'000, 1'010);
  const Decoded decoded = Decode(std::move(t));
  EXPECT_THAT(decoded.Names(),
              ElementsAre("a/b", "_x_0", "usr/bin", "(unnamed)", "\xEF\xBF\xBD",
                          "_q_ _q_ _", "a_1", "a_1 2", "😀",
                          std::string(120, 'x'), "a", "a/b 2"));
  EXPECT_EQ(decoded.graph.node(5).attr().at("name").s(), " q   q   ");
  EXPECT_EQ(decoded.graph.node(9).attr().at("name").s().size(), 1'000);
}

TEST(ProgramGraphTest, DynamicNamesAreOneNode) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 200; ++i) {
    t.AddRange(main, "request " + std::to_string(i), 10 * i, 10 * i + 5);
  }
  const Decoded decoded = Decode(std::move(t));
  EXPECT_THAT(decoded.Names(), ElementsAre("request _"));
  EXPECT_EQ(decoded.graph.node(0).attr().at("name").s(), "request #");
  EXPECT_EQ(decoded.graph.node(0).attr().at("calls").i(), 200);
}

TEST(ProgramGraphTest, ManyNodesAreCutToTheLongest) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 1'000'000);
  for (int i = 0; i < 100; ++i) {
    t.AddRange(main, "g" + std::to_string(i), 1'000 * i, 1'000 * i + 500 + i);
  }
  const Decoded decoded = Decode(std::move(t), 3);
  EXPECT_THAT(decoded.Names(), ElementsAre("f", "f/g98", "f/g99", "f/(other)"));
  EXPECT_EQ(decoded.graph.node(3).attr().at("left_out").i(), 98);
}

TEST(ProgramGraphTest, AnEmptyTraceIsAnEmptyGraph) {
  EXPECT_THAT(Decode(TestTrace()).Names(), IsEmpty());
}

// More than 100 names that differ in numbers are one.
TEST(ProgramGraphTest, AHundredNamesAreNodesAndMoreAreOne) {
  const auto nodes = [](int names) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    for (int i = 0; i < names; ++i) {
      t.AddRange(main, "f" + std::to_string(i) + "x7", 10 * i, 10 * i + 5);
    }
    return Decode(std::move(t)).Names();
  };
  EXPECT_EQ(nodes(100).size(), 100u);
  EXPECT_THAT(nodes(101), ElementsAre("f_x_"));
}

TEST(ProgramGraphTest, LongNamesAreCutBetweenCharacters) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const std::string two = "\u00e9";  // two bytes
  const std::vector<std::pair<std::string, std::string>> names = {
      {std::string(120, 'a'), std::string(120, 'a')},
      {std::string(121, 'b'), std::string(120, 'b')},
      {std::string(118, 'c') + two, std::string(118, 'c') + two},
      {std::string(119, 'd') + two, std::string(119, 'd')},
      {std::string(119, 'e') + "/f", std::string(119, 'e')}};
  std::vector<std::string> expected;
  for (size_t i = 0; i < names.size(); ++i) {
    t.AddRange(main, names[i].first, static_cast<TimeNs>(10 * i),
               static_cast<TimeNs>(10 * i + 5));
    expected.push_back(names[i].second);
  }
  t.AddRange(main, std::string(999, 'g') + two, 900, 905);
  const Decoded decoded = Decode(std::move(t));
  std::vector<std::string> got = decoded.Names();
  got.pop_back();
  EXPECT_EQ(got, expected);
  EXPECT_EQ(decoded.graph.node(1).op(), names[1].second);
  EXPECT_EQ(decoded.graph.node(1).attr().at("name").s(), names[1].first);
  EXPECT_EQ(decoded.graph.node(5).attr().at("name").s(), std::string(999, 'g'));
}

TEST(ProgramGraphTest, EachThreadIsAChainOfItsOwn) {
  TestTrace t;
  t.SetWindow(5'000, 20'000);
  for (const int64_t tid : {1, 2}) {
    const auto track = t.AddThread(1, tid, "worker");
    const std::string name = tid == 1 ? "a" : "b";
    for (const int i : {1, 2}) {
      t.AddRange(track, name + std::to_string(i), 5'000 * i, 5'000 * i + 2'999);
    }
    t.data().memory.push_back(
        {.track = track, .time_ns = 5'001, .bytes = 10 * tid});
    t.data().memory.push_back({.track = track,
                               .device_type = 1,
                               .device_index = 0,
                               .time_ns = 10'001,
                               .bytes = 7});
  }
  const Decoded decoded = Decode(std::move(t));
  EXPECT_THAT(decoded.Edges(), ElementsAre("a2 <- a1", "b2 <- b1"));
  EXPECT_EQ(decoded.graph.versions().producer(), 22);
  std::vector<std::string> times;
  for (const auto& [name, stats] : decoded.Stats()) {
    std::string text = name + " " + std::to_string(stats.all_start_micros()) +
                       "+" + std::to_string(stats.all_end_rel_micros()) + "=" +
                       std::to_string(stats.op_end_rel_micros());
    for (const auto& memory : stats.memory()) {
      text += " " + memory.allocator_name() + ":" +
              std::to_string(memory.total_bytes());
    }
    times.push_back(text);
  }
  // Roots stand side by side, after the recording's start at 5 us.
  EXPECT_THAT(times, ElementsAre("a1 5+2=2 host:10", "a2 7+2=2 device:7",
                                 "b1 10+2=2 host:20", "b2 13+2=2 device:7"));
}

}  // namespace
}  // namespace kymo::tensorboard
