// test_xspace_rules.h - checks that an XSpace is as XProf wants it.
//
//   const XSpaceView view = View(std::move(t));   // of a TestTrace; checked
//   CheckNesting(view.Line(kHost, "main"));
#ifndef KYMO_EXPORTERS_TENSORBOARD_TEST_XSPACE_RULES_H_
#define KYMO_EXPORTERS_TENSORBOARD_TEST_XSPACE_RULES_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/tensorboard/test_xspace.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {

inline constexpr char kHost[] = "/host:CPU";

// The rules that XProf has for every file.
inline void CheckSpace(const schema::XSpace& space) {
  ASSERT_EQ(space.hostnames_size(), 1);
  for (const schema::XPlane& plane : space.planes()) {
    std::set<std::string> names;
    for (const auto& [id, metadata] : plane.stat_metadata()) {
      EXPECT_EQ(id, metadata.id());
      EXPECT_GT(id, 0);
      EXPECT_NE(metadata.name(), "group_id");  // XProf would not group
      names.insert(metadata.name());
    }
    EXPECT_EQ(names.size(), plane.stat_metadata().size()) << plane.name();
    for (const auto& [id, metadata] : plane.event_metadata()) {
      EXPECT_EQ(id, metadata.id());
      EXPECT_GT(id, 0);
    }
    std::set<int64_t> ids;
    for (const schema::XLine& line : plane.lines()) {
      EXPECT_TRUE(ids.insert(line.id()).second) << line.name();
      EXPECT_GE(line.id(), 0);
      EXPECT_LT(line.id(), int64_t{1} << 31);
      EXPECT_EQ(line.timestamp_ns(), 0);
      for (const schema::XEvent& event : line.events()) {
        EXPECT_TRUE(plane.event_metadata().contains(event.metadata_id()));
        EXPECT_EQ(event.data_case(), schema::XEvent::kOffsetPs);
        EXPECT_GE(event.offset_ps(), 0);
        EXPECT_GE(event.duration_ps(), 0);
        EXPECT_GE(event.offset_ps() + event.duration_ps(), 0);
        std::set<int64_t> stats;
        for (const schema::XStat& stat : event.stats()) {
          EXPECT_TRUE(stats.insert(stat.metadata_id()).second);
          EXPECT_TRUE(plane.stat_metadata().contains(stat.metadata_id()));
          if (stat.value_case() == schema::XStat::kRefValue) {
            EXPECT_TRUE(plane.stat_metadata().contains(
                static_cast<int64_t>(stat.ref_value())));
          }
        }
      }
    }
  }
}

// Events by start, longer first, each within those that are open.
inline void CheckNesting(const schema::XLine& line) {
  std::vector<const schema::XEvent*> open;
  const schema::XEvent* before = nullptr;
  for (const schema::XEvent& event : line.events()) {
    const auto end = [](const schema::XEvent& e) {
      return e.offset_ps() + e.duration_ps();
    };
    if (before != nullptr) {
      EXPECT_GE(event.offset_ps(), before->offset_ps());
      // An event without a length encloses nothing, so it may come first.
      if (event.offset_ps() == before->offset_ps() &&
          before->duration_ps() > 0) {
        EXPECT_LE(event.duration_ps(), before->duration_ps());
      }
    }
    before = &event;
    while (!open.empty() && end(*open.back()) <= event.offset_ps()) {
      open.pop_back();
    }
    if (!open.empty()) {
      EXPECT_LE(end(event), end(*open.back()));
    }
    open.push_back(&event);
  }
}

inline XSpaceView View(TestTrace t, const ExportOptions& options = {}) {
  const model::Trace trace = std::move(t).Build();
  XSpaceView view(ExportXSpace(trace, options));
  CheckSpace(view.space());
  return view;
}

inline std::vector<std::string> PlaneNames(const XSpaceView& view) {
  std::vector<std::string> names;
  for (const schema::XPlane& plane : view.space().planes()) {
    names.push_back(plane.name());
  }
  return names;
}

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_TEST_XSPACE_RULES_H_
