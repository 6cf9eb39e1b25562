#include "exporters/tensorboard/event_file/event_file.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/event.pb.h"
#include "exporters/tensorboard/event_file/crc32c.h"
#include "profiler/base/strings.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

using proto::ProtoWriter;

template <typename Number>
void AppendLittleEndian(std::string& out, Number number) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  out.append(bytes, sizeof(bytes));
}

// A double beyond a float's range is infinite, by rule.
float ToFloat(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (std::abs(value) <= kMost || std::isnan(value)) {
    return static_cast<float>(value);
  }
  return std::copysign(std::numeric_limits<float>::infinity(),
                       value > 0 ? 1.0f : -1.0f);
}

std::string Begin(double wall_time_s) {
  std::string event;
  ProtoWriter(event).Double(schema::Event::kWallTimeFieldNumber, wall_time_s);
  return event;
}

}  // namespace

void AppendRecord(std::string& out, std::string_view event) {
  const size_t begin = out.size();
  AppendLittleEndian(out, uint64_t{event.size()});
  AppendLittleEndian(out, MaskedCrc32c(std::string_view(out).substr(begin)));
  out += event;
  AppendLittleEndian(out, MaskedCrc32c(event));
}

void AppendFileVersion(std::string& out, double wall_time_s) {
  std::string event = Begin(wall_time_s);
  ProtoWriter(event).String(schema::Event::kFileVersionFieldNumber,
                            "brain.Event:2");
  AppendRecord(out, event);
}

void AppendScalar(std::string& out, const Scalar& scalar) {
  std::string event = Begin(scalar.wall_time_s);
  ProtoWriter writer(event);
  writer.Int(schema::Event::kStepFieldNumber, scalar.step);
  const size_t summary = writer.Begin(schema::Event::kSummaryFieldNumber);
  const size_t value = writer.Begin(schema::Summary::kValueFieldNumber);
  std::string scratch;
  writer.String(schema::Summary::Value::kTagFieldNumber,
                json::ToUtf8(scalar.tag, scratch));
  writer.Float(schema::Summary::Value::kSimpleValueFieldNumber,
               ToFloat(scalar.value));
  writer.End(value);
  writer.End(summary);
  AppendRecord(out, event);
}

void AppendGraph(std::string& out, double wall_time_s,
                 std::string_view graph_def) {
  std::string event = Begin(wall_time_s);
  ProtoWriter(event).String(schema::Event::kGraphDefFieldNumber, graph_def);
  AppendRecord(out, event);
}

void AppendRunMetadata(std::string& out, double wall_time_s,
                       std::string_view tag, std::string_view run_metadata) {
  std::string event = Begin(wall_time_s);
  ProtoWriter writer(event);
  const size_t tagged =
      writer.Begin(schema::Event::kTaggedRunMetadataFieldNumber);
  std::string scratch;
  writer.String(schema::TaggedRunMetadata::kTagFieldNumber,
                json::ToUtf8(tag, scratch));
  writer.String(schema::TaggedRunMetadata::kRunMetadataFieldNumber,
                run_metadata);
  writer.End(tagged);
  AppendRecord(out, event);
}

std::string EventFileName(int64_t seconds, std::string_view host, int64_t pid,
                          int64_t number) {
  return absl::StrCat("events.out.tfevents.",
                      absl::StrFormat("%010d", std::max<int64_t>(seconds, 0)),
                      ".", ToAbsl(host), ".", pid, ".", number);
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) name[0] = '\0';
  std::string host(name);
  for (char& c : host) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) ||
                          c == '-' || c == '.' || c == '_';
    if (!is_plain) c = '_';
  }
  return host.empty() ? "localhost" : host;
}

}  // namespace kymo::tensorboard
