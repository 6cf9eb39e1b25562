#include "exporters/tensorboard/program_graph.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/event.pb.h"
#include "profiler/model/activity_type.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

using proto::ProtoWriter;

constexpr std::string_view kStep = "ProfilerStep";
constexpr size_t kMaxNameBytes = 120;   // of one operation in a node's name
constexpr size_t kMaxTextBytes = 1000;  // the dashboard drops longer attributes

// At most `bytes` of `text`, cut between characters where it is UTF-8.
std::string_view Cut(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  const size_t least = bytes - std::min<size_t>(bytes, 3);
  while (bytes > least && (text[bytes] & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

bool IsKept(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) ||
         std::string_view("_.-/<>()[],*&+= ").find(c) != std::string_view::npos;
}

// An operation's part of a node's name: slashes make boxes of their own, empty
// boxes do not exist, and colons would be outputs.
std::string NodeNamePart(std::string_view name) {
  std::string scratch;
  // No more is looked at than can be part of it, of names that may be long.
  const std::string_view text =
      json::ToUtf8(Cut(name, 4 * kMaxNameBytes), scratch);
  std::string part;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "::") {
      part += '.';
      ++i;
    } else if (text[i] == '/' && (part.empty() || part.back() == '/')) {
      continue;
    } else {
      part += IsKept(text[i]) ? text[i] : '_';
    }
  }
  part.resize(Cut(part, kMaxNameBytes).size());
  while (!part.empty() && (part.back() == '/' || part.back() == ' ')) {
    part.pop_back();
  }
  return part.empty() ? "(unnamed)" : part;
}

// Free text of an attribute: some readers do not unescape.
std::string AttributeText(std::string_view text) {
  std::string scratch;
  std::string plain(
      Cut(json::ToUtf8(Cut(text, kMaxTextBytes), scratch), kMaxTextBytes));
  for (char& c : plain) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\'' || c == '\\' || byte < 0x20 || byte == 0x7F) {
      c = ' ';
    }
  }
  return plain;
}

std::string DeviceName(const CallPath& path) {
  if (path.device_index < 0 && !path.is_device) return "/device:CPU:0";
  return absl::StrCat("/device:GPU:", path.device_index);
}

// Adds one entry of the map `attr` of a node.
void AppendAttribute(ProtoWriter& node, std::string_view key, int64_t value) {
  const size_t entry = node.Begin(schema::NodeDef::kAttrFieldNumber);
  node.String(proto::kMapKey, key);
  const size_t attribute = node.Begin(proto::kMapValue);
  node.Int(schema::AttrValue::kIFieldNumber, value);
  node.End(attribute);
  node.End(entry);
}

void AppendAttribute(ProtoWriter& node, std::string_view key,
                     std::string_view text) {
  const size_t entry = node.Begin(schema::NodeDef::kAttrFieldNumber);
  node.String(proto::kMapKey, key);
  const size_t attribute = node.Begin(proto::kMapValue);
  node.String(schema::AttrValue::kSFieldNumber, text);
  node.End(attribute);
  node.End(entry);
}

void AppendMemory(ProtoWriter& stats, std::string_view allocator,
                  int64_t bytes) {
  if (bytes <= 0) return;
  const size_t memory = stats.Begin(schema::NodeExecStats::kMemoryFieldNumber);
  stats.String(schema::AllocatorMemoryUsed::kAllocatorNameFieldNumber,
               allocator);
  stats.Int(schema::AllocatorMemoryUsed::kTotalBytesFieldNumber, bytes);
  stats.End(memory);
}

}  // namespace

ProgramGraph::ProgramGraph(const model::Trace& trace, const StepNames& steps,
                           size_t max_nodes)
    : trace_(trace),
      families_(trace.strings()),
      paths_(FindCallPaths(trace, steps, families_, max_nodes)) {
  if (!steps.empty()) any_step_ = steps.numbers().begin()->first;
  NameNodes();
}

std::string ProgramGraph::OriginalName(const CallPath& path) const {
  if (path.is_other) return "(other)";
  if (path.is_device) return "";
  if (path.name == any_step_ && any_step_ != model::kEmptyName) {
    return std::string(kStep);
  }
  return families_.Text(path.name);
}

void ProgramGraph::NameNodes() {
  absl::flat_hash_set<std::string> taken;
  for (const CallPath& path : paths_) {
    std::string name =
        path.parent == kNoPath ? "" : absl::StrCat(names_[path.parent], "/");
    name += path.is_device ? absl::StrCat("device ", path.device_index)
                           : NodeNamePart(OriginalName(path));
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i) {
      unique = absl::StrCat(name, " ", i);
    }
    names_.push_back(std::move(unique));
  }
}

void ProgramGraph::AppendNode(std::string& out, size_t node,
                              std::string_view input) const {
  const CallPath& path = paths_[node];
  ProtoWriter writer(out);
  const size_t begin = writer.Begin(schema::GraphDef::kNodeFieldNumber);
  writer.String(schema::NodeDef::kNameFieldNumber, names_[node]);
  const std::string name = AttributeText(OriginalName(path));
  writer.String(schema::NodeDef::kOpFieldNumber, Cut(name, kMaxNameBytes));
  if (!input.empty()) {
    writer.String(schema::NodeDef::kInputFieldNumber, input);
  }
  writer.String(schema::NodeDef::kDeviceFieldNumber, DeviceName(path));
  AppendAttribute(writer, "name", name);
  if (!path.is_device && !path.is_other) {
    AppendAttribute(writer, "type",
                    model::ActivityTypeName(trace_.type()[path.first_event]));
  }
  AppendAttribute(writer, "calls", path.count);
  AppendAttribute(writer, "total_ns", path.total_ns);
  AppendAttribute(writer, "self_ns", path.self_ns);
  if (path.is_other) AppendAttribute(writer, "left_out", path.left_out);
  writer.End(begin);
}

std::string ProgramGraph::GraphDef() const {
  std::string out;
  std::vector<uint32_t> last_child(paths_.size(), kNoPath);
  std::map<model::TrackIndex, uint32_t> last_root;
  for (uint32_t i = 0; i < paths_.size(); ++i) {
    const CallPath& path = paths_[i];
    uint32_t before = kNoPath;
    if (path.parent == kNoPath) {
      const auto [it, is_first] =
          last_root.try_emplace(trace_.track()[path.first_event], i);
      if (!is_first) before = std::exchange(it->second, i);
    } else {
      before = std::exchange(last_child[path.parent], i);
      if (before == kNoPath) before = path.parent;
    }
    AppendNode(out, i, before == kNoPath ? std::string_view() : names_[before]);
  }
  ProtoWriter writer(out);
  const size_t versions = writer.Begin(schema::GraphDef::kVersionsFieldNumber);
  writer.Int(schema::VersionDef::kProducerFieldNumber, 22);  // PyTorch's
  writer.End(versions);
  return out;
}

// Where each node begins, such that nodes that are called by one stand side by
// side within it.
std::vector<DurationNs> ProgramGraph::Layout() const {
  std::vector<DurationNs> start(paths_.size());
  std::vector<DurationNs> used(paths_.size());
  DurationNs used_by_roots = 0;
  for (size_t i = 0; i < paths_.size(); ++i) {
    const uint32_t parent = paths_[i].parent;
    DurationNs& taken = parent == kNoPath ? used_by_roots : used[parent];
    start[i] = taken + (parent == kNoPath ? 0 : start[parent]);
    taken += paths_[i].total_ns;
  }
  return start;
}

void ProgramGraph::AppendStats(std::string& out, size_t node,
                               int64_t start_us) const {
  const CallPath& path = paths_[node];
  // Without a time the dashboard takes a node as one that did not run.
  const int64_t total_us = std::max<int64_t>(path.total_ns / kNsPerUs, 1);
  ProtoWriter writer(out);
  const size_t stats =
      writer.Begin(schema::DeviceStepStats::kNodeStatsFieldNumber);
  writer.String(schema::NodeExecStats::kNodeNameFieldNumber, names_[node]);
  writer.Int(schema::NodeExecStats::kAllStartMicrosFieldNumber, start_us);
  writer.Int(schema::NodeExecStats::kOpEndRelMicrosFieldNumber, total_us);
  writer.Int(schema::NodeExecStats::kAllEndRelMicrosFieldNumber, total_us);
  AppendMemory(writer, "host", path.host_bytes);
  AppendMemory(writer, "device", path.device_bytes);
  writer.String(schema::NodeExecStats::kTimelineLabelFieldNumber,
                absl::StrCat(path.count, " calls"));
  writer.End(stats);
}

std::string ProgramGraph::RunMetadata() const {
  const std::vector<DurationNs> start = Layout();
  const int64_t base_us = std::max<int64_t>(trace_.start_ns() / kNsPerUs, 1);
  std::map<std::string, std::vector<size_t>> devices;
  for (size_t i = 0; i < paths_.size(); ++i) {
    devices[DeviceName(paths_[i])].push_back(i);
  }
  std::string out;
  ProtoWriter writer(out);
  const size_t step_stats =
      writer.Begin(schema::RunMetadata::kStepStatsFieldNumber);
  for (const auto& [device, nodes] : devices) {
    const size_t device_stats =
        writer.Begin(schema::StepStats::kDevStatsFieldNumber);
    writer.String(schema::DeviceStepStats::kDeviceFieldNumber, device);
    for (const size_t node : nodes) {
      AppendStats(out, node, base_us + start[node] / kNsPerUs);
    }
    writer.End(device_stats);
  }
  writer.End(step_stats);
  return out;
}

}  // namespace kymo::tensorboard
