// Tests of each function of ITT that a program calls, by a client of our own
// (itt_client.h). oneTBB, which is not ours, is in command_test.py.
#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/model/trace.h"
#include "profiler/report/ledger_text.h"
#include "tests/nvtx/itt_client.h"
#include "tests/nvtx/trace_reader.h"

namespace kymo {
namespace {

using itt::Domain;
using itt::StringHandle;
using testing::ArgText;
using testing::Find;
using testing::FindAll;
using testing::ParentName;

class IttTest : public ::testing::Test {
 protected:
  template <typename Work>
  const model::Trace& Record(Work work) {
    profile_ = testing::RecordAll(work, {.activities = {"cpu", "itt"}});
    return *profile_->trace();
  }
  StringHandle* Text(const char* text) {
    return itt_.string_handle_create(text);
  }
  std::vector<double> Samples(std::string_view counter) const {
    std::vector<double> values;
    for (const model::CounterSample& sample : profile_->trace()->counters()) {
      if (profile_->trace()->Name(sample.name) == counter) {
        values.push_back(sample.value);
      }
    }
    return values;
  }
  std::string Ledger() const {
    return report::LedgerText(profile_->trace()->ledger());
  }

  const testing::IttFunctions& itt_ = testing::AttachItt();
  Domain* const domain_ = itt_.domain_create("solver");
  std::unique_ptr<Profile> profile_;
};

TEST_F(IttTest, TheSameTextIsTheSameObject) {
  EXPECT_EQ(itt_.domain_create("solver"), domain_);
  EXPECT_NE(itt_.domain_create("other"), domain_);
  EXPECT_EQ(Text("a"), Text(std::string("a").c_str()));
  EXPECT_NE(Text("a"), Text("b"));
  EXPECT_STREQ(domain_->name, "solver");
  EXPECT_EQ(domain_->flags, 1);
}

TEST_F(IttTest, TasksNestWithEachOtherAndWithOurs) {
  const model::Trace& trace = Record([&] {
    itt_.task_begin(domain_, {}, {}, Text("outer"));
    {
      RecordFunction ours("ours");
      itt_.task_begin(domain_, {7, 0, 0}, {}, Text("inner"));
      itt_.marker(domain_, {}, Text("mark"), 5);
      itt_.task_end(domain_);
    }
    itt_.task_end(domain_);
  });
  EXPECT_EQ(ParentName(trace, "mark"), "inner");
  EXPECT_EQ(ParentName(trace, "inner"), "ours");
  EXPECT_EQ(ParentName(trace, "ours"), "outer");
  EXPECT_EQ(trace.type()[Find(trace, "outer")], model::ActivityType::kIttTask);
  EXPECT_EQ(ArgText(trace, "inner", "domain"), "solver");
  EXPECT_EQ(Ledger(), "");
}

TEST_F(IttTest, OverlappedTasksEndByTheirIdOnAnyThread) {
  const model::Trace& trace = Record([&] {
    itt_.task_begin_overlapped(domain_, {1, 0, 0}, {}, Text("first"));
    itt_.task_begin_overlapped(domain_, {2, 0, 0}, {}, Text("second"));
    itt_.task_end_overlapped(domain_, {1, 0, 0});
    std::thread([&] { itt_.task_end_overlapped(domain_, {2, 0, 0}); }).join();
  });
  for (const char* const name : {"first", "second"}) {
    EXPECT_EQ(trace.flags()[Find(trace, name)], model::kEventAsync) << name;
  }
  EXPECT_LT(trace.end()[Find(trace, "first")],
            trace.end()[Find(trace, "second")]);
  EXPECT_EQ(Ledger(), "");
}

TEST_F(IttTest, OneIdMayBeATaskARegionAndAFrameAtATime) {
  itt::Id id = {3, 4, 5};
  const model::Trace& trace = Record([&] {
    itt_.task_begin_overlapped(domain_, id, {}, Text("task"));
    itt_.region_begin(domain_, id, {}, Text("region"));
    itt_.frame_begin_v3(domain_, &id);
    itt_.frame_end_v3(domain_, &id);
    itt_.region_end(domain_, id);
    itt_.task_end_overlapped(domain_, id);
  });
  EXPECT_EQ(trace.event_count(), 3u);
  EXPECT_LE(trace.end()[Find(trace, "frame")],
            trace.end()[Find(trace, "region")]);
  EXPECT_LE(trace.end()[Find(trace, "region")],
            trace.end()[Find(trace, "task")]);
  EXPECT_EQ(Ledger(), "");
}

TEST_F(IttTest, AnIdIsOneOfItsKindOnly) {
  itt::Id one = {1, 0, 0};
  const model::Trace& trace = Record([&] {
    itt_.region_begin(domain_, {2, 0, 0}, {}, Text("region"));
    itt_.task_begin_overlapped(domain_, {3, 0, 0}, {}, Text("task"));
    itt_.frame_begin_v3(domain_, &one);
    itt_.task_end_overlapped(domain_, {3, 0, 0});
    itt_.region_end(domain_, {2, 0, 0});
    itt_.frame_end_v3(domain_, &one);
  });
  EXPECT_LE(trace.end()[Find(trace, "task")],
            trace.end()[Find(trace, "region")]);
  EXPECT_LE(trace.end()[Find(trace, "region")],
            trace.end()[Find(trace, "frame")]);
  EXPECT_EQ(Ledger(), "");
}

TEST_F(IttTest, AFrameNeedsNoId) {
  const model::Trace& trace = Record([&] {
    for (int i = 0; i < 3; ++i) {
      itt_.frame_begin_v3(domain_, nullptr);
      itt_.frame_end_v3(domain_, nullptr);
    }
  });
  EXPECT_EQ(FindAll(trace, "frame").size(), 3u);
  EXPECT_EQ(ArgText(trace, "frame", "domain"), "solver");
}

TEST_F(IttTest, MetadataBecomesArguments) {
  const model::Trace& trace = Record([&] {
    itt_.region_begin(domain_, {9, 0, 0}, {}, Text("region"));
    itt_.task_begin(domain_, {}, {}, Text("task"));
    int32_t below = -5;
    itt_.metadata_add(domain_, {}, Text("int32"), itt::kMetadataInt32, 1,
                      &below);
    float half = 0.5;
    itt_.metadata_add(domain_, {}, Text("float"), itt::kMetadataFloat, 1,
                      &half);
    uint16_t words[] = {65535, 1};
    itt_.metadata_add(domain_, {}, Text("first of two"), itt::kMetadataUint16,
                      2, words);
    itt_.metadata_str_add(domain_, {}, Text("text"), "all of it", 0);
    itt_.metadata_str_add(domain_, {9, 0, 0}, Text("text"), "of the region", 6);
    itt_.task_end(domain_);
    itt_.region_end(domain_, {9, 0, 0});
  });
  EXPECT_EQ(ArgText(trace, "task", "int32"), "-5");
  EXPECT_EQ(ArgText(trace, "task", "float"), "0.5");
  EXPECT_EQ(ArgText(trace, "task", "first of two"), "65535");
  EXPECT_EQ(ArgText(trace, "task", "text"), "all of it");
  EXPECT_EQ(ArgText(trace, "region", "text"), "of the");
  // Nothing but these, and the domain.
  EXPECT_EQ(trace.args(Find(trace, "task")).size(), 5u);
  EXPECT_EQ(trace.args(Find(trace, "region")).size(), 2u);
}

TEST_F(IttTest, CountersHaveTheirValues) {
  void* const level =
      itt_.counter_create_typed("level", "tank", itt::kMetadataDouble);
  void* const small =
      itt_.counter_create_typed("small", nullptr, itt::kMetadataInt16);
  void* const items = itt_.counter_create("items", "queue");
  Record([&] {
    double half = 0.5;
    itt_.counter_set_value(level, &half);
    int16_t below = -2;
    itt_.counter_set_value(small, &below);
    itt_.counter_inc(items);
    itt_.counter_inc(items);
    itt_.counter_dec_delta(items, 5);
    itt_.counter_inc_delta_v3(domain_, Text("steps"), 10);
    itt_.counter_dec_v3(domain_, Text("steps"));
  });
  EXPECT_EQ(Samples("tank::level"), (std::vector<double>{0.5}));
  EXPECT_EQ(Samples("small"), (std::vector<double>{-2}));
  EXPECT_EQ(Samples("queue::items"), (std::vector<double>{1, 2, -3}));
  EXPECT_EQ(Samples("solver::steps"), (std::vector<double>{10, 9}));
}

TEST_F(IttTest, ThreadsHaveTheirNames) {
  const model::Trace& trace = Record([&] {
    std::thread([&] {
      itt_.thread_set_name("librarian");
      itt_.task_begin(domain_, {}, {}, Text("work"));
      itt_.task_end(domain_);
    }).join();
  });
  const model::Track& track =
      trace.tracks()[trace.track()[Find(trace, "work")]];
  EXPECT_EQ(trace.Name(track.name), "librarian");
}

TEST_F(IttTest, TasksMayBeNamedByAFunction) {
  // One that the dynamic linker knows by its name.
  const auto function =
      reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "abort"));
  const model::Trace& trace = Record([&] {
    itt_.task_begin_fn(domain_, {}, {}, function);
    itt_.task_end(domain_);
  });
  ASSERT_EQ(trace.event_count(), 1u);
  EXPECT_NE(trace.EventName(0).find("abort"), std::string_view::npos)
      << trace.EventName(0);
}

TEST_F(IttTest, WhatHasNoNameIsShown) {
  const model::Trace& trace = Record([&] {
    itt_.task_begin(nullptr, {}, {}, nullptr);
    itt_.task_end(nullptr);
  });
  EXPECT_EQ(trace.event_count(), 1u);
  EXPECT_EQ(ArgText(trace, "(no name)", "domain"), "none");
  EXPECT_EQ(Ledger(), "");
}

TEST_F(IttTest, EndsWithoutABeginAreCounted) {
  Record([&] {
    itt_.task_end(domain_);
    itt_.task_end_overlapped(domain_, {99, 0, 0});
    itt_.frame_end_v3(domain_, nullptr);
  });
  EXPECT_EQ(profile_->trace()->event_count(), 0u);
  EXPECT_EQ(profile_->trace()->ledger().Get(model::Loss::kEndsWithoutBegin),
            3u);
}

TEST_F(IttTest, WhatIsBegunTwiceEndsWhereItBeginsAgain) {
  const model::Trace& trace = Record([&] {
    itt_.region_begin(domain_, {1, 0, 0}, {}, Text("twice"));
    itt_.region_begin(domain_, {1, 0, 0}, {}, Text("twice"));
    itt_.region_end(domain_, {1, 0, 0});
  });
  EXPECT_EQ(FindAll(trace, "twice").size(), 2u);
  EXPECT_EQ(Ledger(), "");
}

TEST_F(IttTest, WhatIsOpenAtTheEndIsShown) {
  const model::Trace& trace = Record([&] {
    itt_.task_begin(domain_, {}, {}, Text("open"));
    itt_.frame_begin_v3(domain_, nullptr);
  });
  itt_.task_end(domain_);
  itt_.frame_end_v3(domain_, nullptr);
  EXPECT_TRUE(trace.flags()[Find(trace, "open")] & model::kEventOpen);
  EXPECT_TRUE(trace.flags()[Find(trace, "frame")] & model::kEventOpen);
}

TEST_F(IttTest, AHundredThousandNamesAreKept) {
  const model::Trace& trace = Record([&] {
    for (int i = 0; i < 100'000; ++i) {
      itt_.task_begin(domain_, {}, {},
                      Text(("name " + std::to_string(i)).c_str()));
      itt_.task_end(domain_);
    }
  });
  EXPECT_EQ(trace.event_count(), 100'000u);
  Find(trace, "name 0");
  Find(trace, "name 99999");
  EXPECT_EQ(Ledger(), "");
}

TEST_F(IttTest, ItIsOffUnlessItIsAskedFor) {
  const auto profile = testing::RecordAll([&] {
    itt_.task_begin(domain_, {}, {}, Text("unheard"));
    itt_.task_end(domain_);
  });
  EXPECT_EQ(profile->trace()->event_count(), 0u);
}

TEST_F(IttTest, FunctionsThatItDoesNotKnowAreLeftEmpty) {
  EXPECT_NE(itt_.suppress_push, nullptr) << "the null function";
}

}  // namespace
}  // namespace kymo
