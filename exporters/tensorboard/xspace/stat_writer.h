// stat_writer.h - writes statistics of an event or a plane with the types that
// XProf expects.
//
//   StatWriter stats(out, StatWriter::kOfEvent);
//   stats.Uint(ids.Stat(StatName::kCorrelationId), 77);
//   stats.Ref(ids.Stat(StatName::kTfOp), ids.Text(name));
//
// The type matters: where XProf reads a signed number, it gets 0 if the
// statistic has an unsigned one, and the other way round.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_STAT_WRITER_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_STAT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/xplane.pb.h"

namespace kymo::tensorboard {

class StatWriter {
 public:
  // The number of the field `stats`.
  static constexpr uint32_t kOfEvent = schema::XEvent::kStatsFieldNumber;
  static constexpr uint32_t kOfPlane = schema::XPlane::kStatsFieldNumber;

  StatWriter(std::string& out, uint32_t field) : writer_(out), field_(field) {}

  void Double(uint64_t id, double value) {
    const size_t stat = Begin(id);
    writer_.Double(schema::XStat::kDoubleValueFieldNumber, value);
    writer_.End(stat);
  }
  void Uint(uint64_t id, uint64_t value) {
    const size_t stat = Begin(id);
    writer_.Uint(schema::XStat::kUint64ValueFieldNumber, value);
    writer_.End(stat);
  }
  void Int(uint64_t id, int64_t value) {
    const size_t stat = Begin(id);
    writer_.Int(schema::XStat::kInt64ValueFieldNumber, value);
    writer_.End(stat);
  }
  // REQUIRES: `text` is UTF-8.
  void String(uint64_t id, std::string_view text) {
    const size_t stat = Begin(id);
    writer_.String(schema::XStat::kStrValueFieldNumber, text);
    writer_.End(stat);
  }
  void Ref(uint64_t id, uint64_t text_id) {
    const size_t stat = Begin(id);
    writer_.Uint(schema::XStat::kRefValueFieldNumber, text_id);
    writer_.End(stat);
  }

 private:
  size_t Begin(uint64_t id) {
    const size_t stat = writer_.Begin(field_);
    writer_.Uint(schema::XStat::kMetadataIdFieldNumber, id);
    return stat;
  }

  proto::ProtoWriter writer_;
  const uint32_t field_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_STAT_WRITER_H_
