#include "exporters/tensorboard/xspace/plane.h"

#include <atomic>

#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "profiler/base/parallel.h"
#include "profiler/base/per_worker.h"
#include "profiler/base/status_macros.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

constexpr uint32_t kPlanes = schema::XSpace::kPlanesFieldNumber;
constexpr uint32_t kLines = schema::XPlane::kLinesFieldNumber;

// The tag and length of a message.
std::string MessageHead(uint32_t field, uint64_t bytes) {
  char head[2 * proto::kMaxVarintBytes];
  char* const end = proto::PutVarint(
      proto::PutVarint(head, proto::Tag(field, proto::WireType::kBytes)),
      bytes);
  return std::string(head, end);
}

uint64_t MeasureEvents(const LineSource& source, size_t items) {
  constexpr size_t kGrain = 4'096;
  std::atomic<uint64_t> bytes{0};
  PerWorker<std::string> scratch([] { return std::string(); });
  ParallelFor(items, kGrain, [&](size_t begin, size_t end) {
    std::string& out = scratch.Local();
    out.clear();
    source.Append(begin, end, out);
    bytes.fetch_add(out.size(), std::memory_order_relaxed);
  });
  return bytes.load();
}

}  // namespace

Plane::Plane(int64_t id, std::string_view name, PlaneIds* ids,
             std::string stats)
    : ids_(ids) {
  proto::ProtoWriter writer(head_);
  writer.Int(schema::XPlane::kIdFieldNumber, id);
  writer.String(schema::XPlane::kNameFieldNumber, name);
  head_ += stats;
}

void Plane::Add(const LineHead& head, std::unique_ptr<LineSource> source) {
  Line& line = lines_.emplace_back();
  proto::ProtoWriter writer(line.head);
  writer.Int(schema::XLine::kIdFieldNumber, head.id);
  std::string scratch;
  writer.String(schema::XLine::kNameFieldNumber,
                json::ToUtf8(head.name, scratch));
  line.source = std::move(source);
}

void Plane::Measure() {
  body_bytes_ = head_.size();
  items_ = 0;
  for (Line& line : lines_) {
    const size_t items = line.source->Begin();
    line.events_bytes = MeasureEvents(*line.source, items);
    line.source->End();
    items_ += items;
    const uint64_t line_bytes = line.head.size() + line.events_bytes;
    body_bytes_ += MessageHead(kLines, line_bytes).size() + line_bytes;
  }
  if (ids_ != nullptr) {
    ids_->WriteTables(
        [&](std::string_view piece) { body_bytes_ += piece.size(); });
  }
  bytes_ = MessageHead(kPlanes, body_bytes_).size() + body_bytes_;
}

absl::Status Plane::Write(ByteSink& sink,
                          timeline::OrderedOutput& output) const {
  KYMO_RETURN_IF_ERROR(sink.Append(MessageHead(kPlanes, body_bytes_)));
  KYMO_RETURN_IF_ERROR(sink.Append(head_));
  for (const Line& line : lines_) {
    KYMO_RETURN_IF_ERROR(
        sink.Append(MessageHead(kLines, line.head.size() + line.events_bytes)));
    KYMO_RETURN_IF_ERROR(sink.Append(line.head));
    const size_t items = line.source->Begin();
    const absl::Status status =
        output.Run(items, [&](size_t begin, size_t end, std::string& out) {
          line.source->Append(begin, end, out);
        });
    line.source->End();
    KYMO_RETURN_IF_ERROR(status);
  }
  if (ids_ == nullptr) return absl::OkStatus();
  absl::Status status;
  ids_->WriteTables([&](std::string_view piece) {
    if (status.ok()) status = sink.Append(piece);
  });
  return status;
}

}  // namespace kymo::tensorboard
