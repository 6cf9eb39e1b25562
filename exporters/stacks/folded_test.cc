#include "exporters/stacks/folded.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "exporters/stacks/frame_tree.h"
#include "exporters/stacks/stacks_exporter.h"
#include "exporters/stacks/test_pprof.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using stacks::DecodedProfile;
using stacks::FrameTree;
using stacks::ReadProfile;
using stacks::StackPlaces;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Pair;
using ::testing::SizeIs;

TestTrace WithThread() {
  TestTrace t;
  t.AddProcess(1, "xz");
  t.AddThread(1, 2, "worker");
  return t;
}

// Ranges "again", each inside of the one before, and "leaf" in the innermost.
// Each "again" has 2 ns of its own, "leaf" has all of its 10.
model::Trace Recursion(int depth) {
  TestTrace t = WithThread();
  const TimeNs end = 2 * depth + 10;
  for (int i = 0; i < depth; ++i) t.AddRange(0, "again", i, end - i);
  t.AddRange(0, "leaf", depth, depth + 10);
  return std::move(t).Build();
}

Exported Stacks(const model::Trace& trace, ExportOptions options) {
  return Export(*NewStacksExporter(), trace, options);
}

ExportOptions Folded(const std::string& max_frames = "512") {
  return {.settings = {{"stacks_formats", "folded"},
                       {"stacks_max_frames", max_frames}}};
}

TEST(FoldedTest, FramesBeyondTheLimitAreOneFrameWithTheirCount) {
  // 7 frames: 3 outermost, 3 folded, the innermost.
  EXPECT_THAT(Stacks(Recursion(6), Folded("5")),
              ElementsAre(Pair("stacks.folded",
                               "xz;again 2\n"
                               "xz;again;again 2\n"
                               "xz;again;again;again 2\n"
                               "xz;again;again;again;[3 frames folded];"
                               "again 2\n"
                               "xz;again;again;again;[3 frames folded];"
                               "leaf 10\n"
                               "xz;again;again;again;again 2\n"
                               "xz;again;again;again;again;again 2\n")));
}

// A range may have any name. What is pruned does not become a part of it.
TEST(FoldedTest, AFrameNamedOtherLosesNoWeight) {
  const model::Trace trace = WithThread().Build();
  stacks::FoldedStacks folded(trace, 512);
  const auto root = folded.Root("app");
  folded.Add(folded.Below(root, folded.FrameOf("large")), 1'000'000);
  folded.Add(folded.Below(root, folded.FrameOf("[other]")), 3);
  folded.Add(folded.Below(root, folded.FrameOf("small")), 500);
  folded.Add(folded.Below(root, folded.FrameOf("small 2")), 400);
  folded.Prune(1'000);
  EXPECT_EQ(folded.total(), 1'000'903);
}

TEST(FoldedTest, ALineOfAFrameNamedOtherStays) {
  const model::Trace trace = WithThread().Build();
  stacks::FoldedStacks folded(trace, 512);
  const auto root = folded.Root("app");
  folded.Add(folded.Below(root, folded.FrameOf("[other]")), 7'000);
  folded.Add(folded.Below(root, folded.FrameOf("small")), 500);
  folded.Prune(1'000);
  MemoryDirectory out;
  ASSERT_TRUE(folded.Write(out, "f").ok());
  EXPECT_EQ(out.files()["f"], "app;[other] 500\napp;[other] 7000\n");
}

TEST(FoldedTest, TheLeastWeightIsTheFirstThatFits) {
  const model::Trace trace = WithThread().Build();
  stacks::FoldedStacks folded(trace, 512);
  const auto root = folded.Root("app");
  folded.Add(folded.Below(root, folded.FrameOf("a")), 900);
  folded.Add(folded.Below(root, folded.FrameOf("b")), 7);
  folded.Add(folded.Below(root, folded.FrameOf("c")), 5);
  // "app;a 900\n", "app;b 7\n" and "app;c 5\n" are 26 bytes. With "b" and
  // "c" in "app;[other] 12\n" it would be 25.
  uint64_t bytes = 0;
  EXPECT_EQ(folded.LeastWeight(30, 0, &bytes), 0);
  EXPECT_EQ(bytes, 26u);
  EXPECT_EQ(folded.LeastWeight(26), 0);
  EXPECT_EQ(folded.LeastWeight(25, 0, &bytes), 8);
  EXPECT_EQ(bytes, 25u);
}

// Of a tree of chains and forks, whatever fits after Prune is found.
TEST(FoldedTest, TheLeastWeightLeavesWhatFits) {
  const model::Trace trace = WithThread().Build();
  stacks::FoldedStacks folded(trace, 512);
  std::vector<FrameTree::Place> places = {folded.Root("app;thread"),
                                          folded.Root("b")};
  std::minstd_rand random(3);
  for (int i = 0; i < 200; ++i) {
    const size_t parent =
        random() % 4 != 0 ? places.size() - 1 : random() % places.size();
    places.push_back(folded.Below(
        places[parent], folded.FrameOf(absl::StrCat("f", random() % 12))));
    if (random() % 3 == 0) folded.Add(places.back(), 1 + random() % 1'000);
  }
  const int64_t total = folded.total();
  const auto pruned_to = [&](int64_t least) {
    folded.KeepWhole();
    folded.Prune(least);
    EXPECT_EQ(folded.total(), total);
    MemoryDirectory out;
    EXPECT_TRUE(folded.Write(out, "f").ok());
    folded.Restore();
    EXPECT_EQ(folded.folded_count(), 0u);
    return out.files()["f"];
  };
  const std::string whole = pruned_to(0);
  EXPECT_EQ(folded.LeastWeight(whole.size()), 0);
  for (int64_t least = 1; least < total; least += 1 + least / 8) {
    const size_t bytes = pruned_to(least).size();
    const int64_t found = folded.LeastWeight(bytes);
    EXPECT_LE(pruned_to(found).size(), bytes) << least;
    if (found != 0) {
      EXPECT_GT(pruned_to(found - 1).size(), bytes) << least;
    }
    const int64_t at_least = 1 + least / 2;
    const int64_t above = folded.LeastWeight(bytes, at_least);
    EXPECT_GE(above, at_least);
    EXPECT_LE(pruned_to(above).size(), bytes) << least;
    if (above != at_least) {
      EXPECT_GT(pruned_to(above - 1).size(), bytes) << least;
    }
  }
  EXPECT_EQ(pruned_to(0), whole);
}

// Also if folded stacks are not written.
TEST(FoldedTest, StacksThatAreCutAreCountedInEachFormat) {
  TestTrace t = WithThread();
  t.AddSample(0, 0, 10, {"a", "b", "c", "d", "e", "f"});
  t.AddSample(0, 10, 10, {"a", "b", "c", "d", "e"});
  const model::Trace samples = std::move(t).Build();
  const model::Trace ranges = Recursion(6);
  const auto cut = [](const model::Trace& trace, const char* format) {
    ExportNotes notes;
    ExportOptions options = Folded("5");
    options.settings["stacks_formats"] = format;
    options.notes = &notes;
    Stacks(trace, options);
    EXPECT_EQ(notes.notices.size(),
              notes.ledger.Get(model::Loss::kStacksFolded) > 0 ? 1u : 0u);
    return notes.ledger.Get(model::Loss::kStacksFolded);
  };
  for (const char* const format : {"folded", "pprof", "folded,pprof"}) {
    EXPECT_EQ(cut(samples, format), 1u) << format;
    EXPECT_EQ(cut(ranges, format), 2u) << format;
  }
  EXPECT_EQ(cut(samples, "speedscope"), 1u);
  EXPECT_EQ(cut(ranges, "speedscope"), 0u);
}

// As bytes, also where a name goes on after another one.
TEST(FoldedTest, LinesAreSorted) {
  TestTrace t = WithThread();
  const char* const names[] = {"f",   "f (int)", "f 7", "f 70", "f-",
                               "[0]", "a",       "zz",  "f[1]"};
  TimeNs now = 0;
  for (const char* const name : names) {
    t.AddRange(0, name, now, now + 600);
    for (const char* const inner : names) {
      t.AddRange(0, inner, now, now + 50);
      t.AddRange(0, "g", now, now + 10);
      now += 60;
    }
    now += 100;
  }
  const std::vector<std::string> lines =
      absl::StrSplit(Stacks(std::move(t).Build(), Folded("3"))["stacks.folded"],
                     '\n', absl::SkipEmpty());
  EXPECT_THAT(lines, SizeIs(9 + 81 + 81));
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
}

// Whatever is remembered of a stack below one root, another root has its own
// nodes, and cut stacks are those of frame after frame.
TEST(StackPlacesTest, EachRootHasItsOwnNodes) {
  model::StackTable stacks;
  std::vector<model::StackId> of_depth = {model::kEmptyStack};
  for (int i = 0; i < 9; ++i) {
    const model::FrameId frame =
        stacks.AddFrame({.line = static_cast<uint32_t>(i)});
    of_depth.push_back(stacks.Push(of_depth.back(), frame));
  }
  const auto frame_of = [](model::FrameId frame) { return 10 + Index(frame); };
  FrameTree tree(/*max_frames=*/5);
  StackPlaces places(stacks, tree);
  const FrameTree::Place roots[] = {tree.Root(1), tree.Root(2)};
  for (const size_t depth : {2, 9, 3, 4, 5, 6, 7, 8, 0, 9}) {
    for (const FrameTree::Place& root : roots) {
      FrameTree::Place expected = root;
      for (size_t i = 0; i < depth; ++i) {
        expected = tree.Below(expected, 10 + static_cast<uint32_t>(i));
      }
      const FrameTree::Place place =
          places.Get(root, of_depth[depth], frame_of);
      EXPECT_EQ(place.node, expected.node) << depth;
      EXPECT_EQ(place.depth, expected.depth) << depth;
      EXPECT_EQ(place.is_folded, expected.is_folded) << depth;
    }
  }
}

TEST(FoldedTest, AllFramesOnRequest) {
  const std::string text = Stacks(Recursion(600), Folded("0"))["stacks.folded"];
  std::string deepest = "xz";
  for (int i = 0; i < 600; ++i) deepest += ";again";
  EXPECT_THAT(text, HasSubstr("\n" + deepest + ";leaf 10\n"));
}

// Every line of a recursion would be as long as it is deep: 100 times as many
// ranges would make 10,000 times as much text.
TEST(FoldedTest, ARecursionOfAnyDepthTakesTheSameText) {
  const auto bytes = [](int depth) {
    return Stacks(Recursion(depth), Folded())["stacks.folded"].size();
  };
  const size_t of_2000 = bytes(2'000);
  EXPECT_LT(of_2000, 2'000'000u);
  // The number of folded frames has two digits more.
  EXPECT_THAT(bytes(200'000), Le(of_2000 + 10));
}

TEST(FoldedTest, PprofFoldsTheSameFrames) {
  const model::Trace trace = Recursion(6);
  ExportOptions options = Folded("5");
  options.settings["stacks_formats"] = "pprof";
  const DecodedProfile profile =
      ReadProfile(Stacks(trace, options)["stacks.pb.gz"]);
  EXPECT_EQ(profile.Total("self_time"), 22);
  EXPECT_EQ(profile.Total("operations"), 7);
  EXPECT_THAT(profile.Lines("self_time"),
              ::testing::Contains("again;again;again;[3 frames folded];leaf 10 "
                                  "process=xz (1) thread=worker (2)"));
}

TEST(FoldedTest, SamplesOfSpeedscopeFoldTheSameFrames) {
  TestTrace t = WithThread();
  t.AddSample(0, 1, 100, {"main", "a", "b", "c", "d", "e", "leaf"});
  ExportOptions options = Folded("5");
  options.settings["stacks_formats"] = "speedscope";
  const std::string text =
      Stacks(std::move(t).Build(), options)["stacks.speedscope.json"];
  EXPECT_THAT(text, HasSubstr("{\"name\":\"[3 frames folded]\"}"));
  const size_t begin = text.find("\"samples\":[\n[");
  ASSERT_NE(begin, std::string::npos);
  const std::string sample =
      text.substr(begin + 13, text.find(']', begin + 13) - begin - 13);
  EXPECT_THAT(std::count(sample.begin(), sample.end(), ','), 4);
}

TEST(FoldedTest, FoldedStacksAreCounted) {
  ExportNotes notes;
  ExportOptions options = Folded("5");
  options.notes = &notes;
  Stacks(Recursion(6), options);
  EXPECT_EQ(notes.ledger.Get(model::Loss::kStacksFolded), 2u);
  EXPECT_THAT(notes.notices, ElementsAre(HasSubstr("--stacks_max_frames")));
}

// A thousand functions of 1 ns, and one of 1,000.
model::Trace ManyFunctions() {
  TestTrace t = WithThread();
  for (int i = 0; i < 1'000; ++i) {
    t.AddRange(0, absl::StrCat("f", i), 10 * i, 10 * i + 1);
  }
  t.AddRange(0, "main", 20'000, 21'000);
  return std::move(t).Build();
}

TEST(FoldedTest, WhatDoesNotFitIsOther) {
  ExportNotes notes;
  ExportOptions options = Folded();
  options.notes = &notes;
  options.max_bytes = 2 * 100;  // of which this file gets 100
  EXPECT_THAT(Stacks(ManyFunctions(), options),
              ElementsAre(Pair("stacks.folded",
                               "xz;[other] 1000\n"
                               "xz;main 1000\n")));
  EXPECT_EQ(notes.ledger.Get(model::Loss::kStacksFolded), 1'000u);
  EXPECT_THAT(notes.notices, ElementsAre(HasSubstr("--max_size")));
  options.max_bytes = 0;
  const std::string all = Stacks(ManyFunctions(), options)["stacks.folded"];
  EXPECT_THAT(all, HasSubstr("xz;f999 1\n"));
}

TEST(FoldedTest, MemoryBelowTheLeastShareIsOther) {
  TestTrace t = WithThread();
  const auto add = [&](int64_t bytes, std::vector<std::string> frames) {
    model::StackId stack = model::kEmptyStack;
    for (const std::string& function : frames) {
      stack = t.data().stacks.Push(
          stack, t.data().stacks.AddFrame({.function = t.Intern(function)}));
    }
    t.data().memory.push_back(
        {.source = model::MemorySource::kHeap,
         .time_ns = static_cast<TimeNs>(t.data().memory.size()),
         .address = 64 * (t.data().memory.size() + 1),
         .bytes = bytes,
         .stack = stack});
  };
  // Of 10,000 bytes one per mille is 10.
  add(9'976, {"main", "load"});
  add(10, {"main", "parse"});
  add(6, {"main", "f"});
  add(3, {"main", "f", "g"});
  add(5, {"main", "h"});
  const model::Trace trace = std::move(t).Build();
  ExportOptions options = Folded();
  EXPECT_EQ(Stacks(trace, options)["stacks.memory.folded"],
            "xz;main;[other] 14\n"
            "xz;main;load 9976\n"
            "xz;main;parse 10\n");
  options.settings["stacks_min_share"] = "0";
  EXPECT_THAT(Stacks(trace, options)["stacks.memory.folded"],
              HasSubstr("xz;main;f;g 3\n"));
  // pprof has each of them.
  options = {.settings = {{"stacks_formats", "pprof"}}};
  const DecodedProfile profile =
      ReadProfile(Stacks(trace, options)["stacks.memory.pb.gz"]);
  EXPECT_THAT(profile.Lines("alloc_space"), SizeIs(5));
}

}  // namespace
}  // namespace kymo
