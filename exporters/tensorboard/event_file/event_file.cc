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
#include "exporters/tensorboard/event_file/crc32c.h"
#include "profiler/base/strings.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

using proto::ProtoWriter;

// Field numbers of Event.
constexpr uint32_t kWallTime = 1;
constexpr uint32_t kStep = 2;
constexpr uint32_t kFileVersion = 3;
constexpr uint32_t kGraphDef = 4;
constexpr uint32_t kSummary = 5;
constexpr uint32_t kTaggedRunMetadata = 8;

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

// Summary.Value.simple_value, the one fixed32 of these messages.
void AppendSimpleValue(std::string& out, double value) {
  constexpr char kTag = 2 << 3 | 5;
  out += kTag;
  AppendLittleEndian(out, ToFloat(value));
}

std::string Begin(double wall_time_s) {
  std::string event;
  ProtoWriter(event).Double(kWallTime, wall_time_s);
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
  ProtoWriter(event).String(kFileVersion, "brain.Event:2");
  AppendRecord(out, event);
}

void AppendScalar(std::string& out, const Scalar& scalar) {
  std::string event = Begin(scalar.wall_time_s);
  ProtoWriter writer(event);
  writer.Int(kStep, scalar.step);
  const size_t summary = writer.Begin(kSummary);
  const size_t value = writer.Begin(1);
  std::string scratch;
  writer.String(1, json::ToUtf8(scalar.tag, scratch));
  AppendSimpleValue(event, scalar.value);
  writer.End(value);
  writer.End(summary);
  AppendRecord(out, event);
}

void AppendGraph(std::string& out, double wall_time_s,
                 std::string_view graph_def) {
  std::string event = Begin(wall_time_s);
  ProtoWriter(event).String(kGraphDef, graph_def);
  AppendRecord(out, event);
}

void AppendRunMetadata(std::string& out, double wall_time_s,
                       std::string_view tag, std::string_view run_metadata) {
  std::string event = Begin(wall_time_s);
  ProtoWriter writer(event);
  const size_t tagged = writer.Begin(kTaggedRunMetadata);
  std::string scratch;
  writer.String(1, json::ToUtf8(tag, scratch));
  writer.String(2, run_metadata);
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
