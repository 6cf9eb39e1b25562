// plane.h - an XPlane that is written as it is made, however large.
//
//   Plane plane(0, "/host:CPU", ids);
//   plane.Add({.id = 4242, .name = "worker"}, std::move(source));
//   plane.Measure();
//   plane.bytes();                           // of the field `planes`
//   KYMO_RETURN_IF_ERROR(plane.Write(sink, output));
//
// Protobuf puts lengths before contents. So that nothing has to be kept,
// everything is made twice: Measure makes it, counts its bytes and forgets
// them, Write makes it again. Both use all cores.
#ifndef KYMO_EXPORTERS_TENSORBOARD_PLANE_H_
#define KYMO_EXPORTERS_TENSORBOARD_PLANE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exporters/tensorboard/plane_ids.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/plugin/sink.h"

namespace kymo::tensorboard {

// The events of a line. Items are numbers from 0; one may make no event, or
// several.
class LineSource {
 public:
  LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  virtual ~LineSource() = default;

  // Prepares for Append and returns how many items there are. What it keeps
  // until End counts for one line at a time.
  virtual size_t Begin() = 0;
  // Appends fields `events`. The same bytes every time; on any thread.
  virtual void Append(size_t begin, size_t end, std::string& out) const = 0;
  virtual void End() {}
};

struct LineHead {
  int64_t id = 0;  // below 2^31, unique within the plane
  std::string name;
};

class Plane {
 public:
  // `stats` are fields of the plane (StatWriter::kOfPlane). `ids` is borrowed
  // and may be null: then the plane has no lines.
  Plane(int64_t id, std::string_view name, PlaneIds* ids,
        std::string stats = "");

  void Add(const LineHead& head, std::unique_ptr<LineSource> source);
  size_t line_count() const { return lines_.size(); }

  // Before the following ones. Marks in `ids` what is used.
  void Measure();
  uint64_t bytes() const { return bytes_; }
  size_t item_count() const { return items_; }
  // `output` writes to `sink`.
  absl::Status Write(ByteSink& sink, timeline::OrderedOutput& output) const;

 private:
  struct Line {
    std::string head;  // its fields but the events
    std::unique_ptr<LineSource> source;
    uint64_t events_bytes = 0;
  };

  PlaneIds* const ids_;
  std::string head_;  // id, name and statistics
  std::vector<Line> lines_;
  uint64_t body_bytes_ = 0;
  uint64_t bytes_ = 0;
  size_t items_ = 0;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_PLANE_H_
