// test_xspace.h - reads XSpaces for tests.
//
//   const XSpaceView space(ExportXSpace(trace));
//   const auto& line = space.Line("/host:CPU", "main");
//   space.Texts("/host:CPU", line)   // {"f 0+100", "g:g(g) 10+20 a=1"}
//
// Reading fails the test on a field that xplane.proto does not have.
#ifndef KYMO_EXPORTERS_TENSORBOARD_TEST_XSPACE_H_
#define KYMO_EXPORTERS_TENSORBOARD_TEST_XSPACE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/tensorboard/tensorboard_exporter.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "profiler/model/trace.h"
#include "tests/support/test_golden.h"

namespace kymo::tensorboard {

// The bytes of the one XSpace of an export.
inline std::string ExportXSpace(const model::Trace& trace,
                                const ExportOptions& options = {}) {
  std::string bytes;
  for (auto& [name, file] : Export(*NewTensorboardExporter(), trace, options)) {
    if (name.ends_with(".xplane.pb")) bytes = std::move(file);
  }
  return bytes;
}

class XSpaceView {
 public:
  explicit XSpaceView(const std::string& bytes) {
    EXPECT_TRUE(space_.ParseFromString(bytes));
    const size_t known_and_unknown = space_.ByteSizeLong();
    space_.DiscardUnknownFields();
    EXPECT_EQ(space_.ByteSizeLong(), known_and_unknown) << "unknown fields";
  }

  const schema::XSpace& space() const { return space_; }

  const schema::XPlane& Plane(const std::string& name) const {
    for (const schema::XPlane& plane : space_.planes()) {
      if (plane.name() == name) return plane;
    }
    ADD_FAILURE() << "no plane " << name;
    return schema::XPlane::default_instance();
  }

  const schema::XLine& Line(const std::string& plane,
                            const std::string& name) const {
    for (const schema::XLine& line : Plane(plane).lines()) {
      if (line.name() == name) return line;
    }
    ADD_FAILURE() << "no line " << name;
    return schema::XLine::default_instance();
  }

  static std::string StatName(const schema::XPlane& plane, int64_t id) {
    return plane.stat_metadata().at(id).name();
  }

  // "name=7", "name=7u", "name=0.5d", "name=text", "name->text" by reference.
  static std::string Text(const schema::XPlane& plane,
                          const schema::XStat& stat) {
    const std::string name = StatName(plane, stat.metadata_id());
    switch (stat.value_case()) {
      case schema::XStat::kInt64Value:
        return name + "=" + std::to_string(stat.int64_value());
      case schema::XStat::kUint64Value:
        return name + "=" + std::to_string(stat.uint64_value()) + "u";
      case schema::XStat::kDoubleValue: {
        char value[32];
        std::snprintf(value, sizeof(value), "%g", stat.double_value());
        return name + "=" + value + "d";
      }
      case schema::XStat::kStrValue:
        return name + "=" + stat.str_value();
      case schema::XStat::kRefValue:
        return name + "->" +
               StatName(plane, static_cast<int64_t>(stat.ref_value()));
      default:
        return name + " has no value";
    }
  }

  // "name(display name) offset+duration statistics", times in ns.
  static std::string Text(const schema::XPlane& plane,
                          const schema::XEvent& event) {
    const auto& metadata = plane.event_metadata().at(event.metadata_id());
    std::string text = metadata.name();
    if (!metadata.display_name().empty()) {
      text += "(" + metadata.display_name() + ")";
    }
    text += " " + std::to_string(event.offset_ps() / 1'000) + "+" +
            std::to_string(event.duration_ps() / 1'000);
    for (const schema::XStat& stat : event.stats()) {
      text += " " + Text(plane, stat);
    }
    return text;
  }

  std::vector<std::string> Texts(const std::string& plane,
                                 const std::string& line) const {
    std::vector<std::string> texts;
    for (const schema::XEvent& event : Line(plane, line).events()) {
      texts.push_back(Text(Plane(plane), event));
    }
    return texts;
  }

 private:
  schema::XSpace space_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_TEST_XSPACE_H_
