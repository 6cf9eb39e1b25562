// plane.h - writes an XPlane of any size without holding it in memory.
//
//   Plane plane(0, "/host:CPU", ids);
//   plane.Add({.id = 4242, .name = "worker"}, std::move(source));
//   plane.Measure();
//   plane.bytes();                           // of the field `planes`
//   KYMO_RETURN_IF_ERROR(plane.Write(sink, output));
//
// Protobuf puts the length of a message before its content. To know the length
// without keeping the content, the plane makes everything twice: Measure makes
// it and only counts the bytes, Write makes it again. Both use all cores.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_PLANE_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_PLANE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exporters/tensorboard/xspace/plane_ids.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/plugin/sink.h"

namespace kymo::tensorboard {

// The events of a line. Items are numbered from 0. An item makes no event, one
// event or several.
class LineSource {
 public:
  LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  virtual ~LineSource() = default;

  // Prepares for Append and returns the number of items. It may keep memory
  // until End; only one line at a time is between Begin and End.
  virtual size_t Begin() = 0;
  // Appends fields `events` of the items [begin, end). The bytes must be the
  // same every time. Called concurrently, on any thread.
  virtual void Append(size_t begin, size_t end, std::string& out) const = 0;
  virtual void End() {}
};

struct LineHead {
  int64_t id = 0;  // below 2^31, unique within the plane
  std::string name;
};

class Plane {
 public:
  // `stats` are fields of the plane (StatWriter::kOfPlane). `ids` must outlive
  // the plane. It may be null if the plane has no lines.
  Plane(int64_t id, std::string_view name, PlaneIds* ids,
        std::string stats = "");

  void Add(const LineHead& head, std::unique_ptr<LineSource> source);
  size_t line_count() const { return lines_.size(); }

  // Call this before the functions below. It marks in `ids` what is used.
  void Measure();
  uint64_t bytes() const { return bytes_; }
  size_t item_count() const { return items_; }
  // REQUIRES: `output` writes to `sink`.
  absl::Status Write(ByteSink& sink, timeline::OrderedOutput& output) const;

 private:
  struct Line {
    std::string head;  // all fields except the events
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

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_PLANE_H_
