#include "exporters/tensorboard/xspace/plane_ids.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "profiler/base/strings.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

using model::NameId;
using proto::ProtoWriter;

constexpr uint32_t kEventMetadata = schema::XPlane::kEventMetadataFieldNumber;
constexpr uint32_t kStatMetadata = schema::XPlane::kStatMetadataFieldNumber;
// XEventMetadata and XStatMetadata have the same numbers for these two.
constexpr uint32_t kId = schema::XEventMetadata::kIdFieldNumber;
constexpr uint32_t kName = schema::XEventMetadata::kNameFieldNumber;
static_assert(kId == schema::XStatMetadata::kIdFieldNumber);
static_assert(kName == schema::XStatMetadata::kNameFieldNumber);

constexpr std::string_view kStepName = "ProfilerStep";

constexpr std::string_view kOwnEvents[] = {"MemoryAllocation",
                                           "MemoryDeallocation", "OutOfMemory"};
static_assert(std::size(kOwnEvents) == static_cast<size_t>(OwnEvent::kCount));

// By StatName.
constexpr std::string_view kStatNames[] = {"_r",
                                           "step_num",
                                           "correlation_id",
                                           "device_id",
                                           "flow",
                                           "_a",
                                           "tf_op",
                                           "shape",
                                           "source",
                                           "source_stack",
                                           "External id",
                                           "Sequence number",
                                           "Fwd thread id",
                                           "finished",
                                           "kernel_details",
                                           "memcpy_details",
                                           "Memset_details",
                                           "allocator_name",
                                           "region_type",
                                           "bytes_allocated",
                                           "bytes_reserved",
                                           "peak_bytes_in_use",
                                           "requested_bytes",
                                           "allocation_bytes",
                                           "addr",
                                           "kymo_folded"};
static_assert(std::size(kStatNames) == static_cast<size_t>(StatName::kCount));

// Further names that XProf would take for its own.
constexpr std::string_view kReservedNames[] = {"_c",
                                               "_ct",
                                               "_ipl_stage_cat",
                                               "_ipl_stage_id",
                                               "_ipl_stage_name",
                                               "_p",
                                               "_pid",
                                               "_pt",
                                               "MemFree_details",
                                               "MemoryResidency_details",
                                               "bytes_accessed",
                                               "bytes_available",
                                               "bytes_transferred",
                                               "context_id",
                                               "cuda_graph_exec_id",
                                               "cuda_graph_id",
                                               "cuda_graph_node_id",
                                               "data_type",
                                               "device_ordinal",
                                               "flops",
                                               "fragmentation",
                                               "graph_type",
                                               "group_id",
                                               "hlo_module",
                                               "hlo_op",
                                               "id",
                                               "index_on_host",
                                               "is_eager",
                                               "iter_num",
                                               "memalloc_details",
                                               "model_flops",
                                               "nvtx_range",
                                               "process_id",
                                               "program_id",
                                               "scope_range_id",
                                               "step_name",
                                               "symbol_id"};

// Names of ranges that XProf would take for steps, loops or memory. What begins
// with IteratorGetNext may: it is how a program tells that it waits for input.
bool HasMeaning(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "MemoryAllocation", "MemoryDeallocation",
      "TraceContext",     "SessionRun",
      "FunctionRun",      "RunGraph",
      "EagerExecute",     "ForOp",
      "ParallelForOp",    "WhileOp",
      "ForeverOp",        "ExecutorState::Process"};
  return name.starts_with("train") || name.starts_with("test") ||
         std::find(std::begin(kNames), std::end(kNames), name) !=
             std::end(kNames);
}

// One entry of a map<int64, message>. The message begins with its id and name.
class Entry {
 public:
  Entry(std::string& out, uint32_t map, uint64_t id, std::string_view name)
      : writer_(out), entry_(writer_.Begin(map)) {
    writer_.Uint(proto::kMapKey, id);
    value_ = writer_.Begin(proto::kMapValue);
    writer_.Uint(kId, id);
    writer_.String(kName, name);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    writer_.End(value_);
    writer_.End(entry_);
  }
  ProtoWriter& writer() { return writer_; }

 private:
  ProtoWriter writer_;
  size_t entry_;
  size_t value_;
};

}  // namespace

PlaneIds::PlaneIds(const model::Trace& trace, const StepNames& steps,
                   SpecialName special_name)
    : trace_(trace),
      special_name_(std::move(special_name)),
      names_(trace.strings().size()),
      event_marks_(2 * names_ + std::size(kOwnEvents)),
      own_events_(std::begin(kOwnEvents), std::end(kOwnEvents)),
      stat_marks_(names_) {
  if (!steps.empty()) is_step_.resize(names_);
  for (const auto& [name, number] : steps.numbers()) {
    is_step_[Index(name)] = true;
  }
  for (size_t i = 0; i < std::size(kStatNames); ++i) {
    stats_[i] = Intern(kStatNames[i]);
  }
  const auto rename = [&](std::string_view text) {
    const std::optional<NameId> name = trace.strings().Find(text);
    if (!name) return;
    renamed_keys_.emplace_back(*name,
                               Intern(absl::StrCat("argument ", ToAbsl(text))));
  };
  for (const std::string_view text : kStatNames) rename(text);
  for (const std::string_view text : kReservedNames) rename(text);
}

uint64_t PlaneIds::NewEvent(std::string_view name) {
  std::string scratch;
  own_events_.emplace_back(json::ToUtf8(name, scratch));
  event_marks_.push_back(1);
  return event_marks_.size();
}

uint64_t PlaneIds::Key(NameId name) {
  for (const auto& [renamed, id] : renamed_keys_) {
    if (renamed == name) return Text(id);
  }
  return Text(name);
}

uint64_t PlaneIds::Intern(std::string_view text) {
  const std::optional<NameId> name = trace_.strings().Find(text);
  if (name) return uint64_t{Index(*name)} + 1;
  const auto [it, is_new] =
      text_ids_.try_emplace(std::string(text), stat_marks_.size() + 1);
  if (is_new) {
    texts_.push_back(it->first);
    stat_marks_.push_back(0);
    interned_bytes_ += text.size();
  }
  return it->second;
}

std::optional<uint64_t> PlaneIds::Find(const std::string& text) const {
  const std::optional<NameId> name = trace_.strings().Find(text);
  if (name) return uint64_t{Index(*name)} + 1;
  const auto it = text_ids_.find(text);
  if (it == text_ids_.end()) return std::nullopt;
  return it->second;
}

void PlaneIds::AppendEvent(std::string& out, size_t at) const {
  if (at >= 2 * names_) {
    Entry(out, kEventMetadata, at + 1, own_events_[at - 2 * names_]);
    return;
  }
  const NameId name{static_cast<uint32_t>(at / 2)};
  std::string scratch;
  const std::string_view text = json::ToUtf8(trace_.Name(name), scratch);
  const bool is_special = at % 2 == static_cast<size_t>(NameForm::kSpecial);
  if (!IsStep(name) && !is_special && !HasMeaning(text)) {
    Entry(out, kEventMetadata, at + 1, text);
    return;
  }
  const std::string meaning = IsStep(name) ? std::string(kStepName)
                              : is_special
                                  ? special_name_(name)
                                  : absl::StrCat("range ", ToAbsl(text));
  Entry entry(out, kEventMetadata, at + 1, meaning);
  entry.writer().String(schema::XEventMetadata::kDisplayNameFieldNumber, text);
}

void PlaneIds::AppendStat(std::string& out, size_t at) const {
  std::string scratch;
  const std::string_view text =
      at < names_ ? trace_.Name(NameId{static_cast<uint32_t>(at)})
                  : texts_[at - names_];
  Entry(out, kStatMetadata, at + 1, json::ToUtf8(text, scratch));
}

void PlaneIds::WriteTables(
    const std::function<void(std::string_view)>& write) const {
  constexpr size_t kPieceBytes = 256 << 10;
  std::string piece;
  const auto hand_on = [&](size_t bytes) {
    if (piece.size() < bytes) return;
    write(piece);
    piece.clear();
  };
  for (size_t at = 0; at < event_marks_.size(); ++at) {
    if (event_marks_[at] == 0) continue;
    AppendEvent(piece, at);
    hand_on(kPieceBytes);
  }
  for (size_t at = 0; at < stat_marks_.size(); ++at) {
    if (stat_marks_[at] == 0) continue;
    AppendStat(piece, at);
    hand_on(kPieceBytes);
  }
  hand_on(1);
}

}  // namespace kymo::tensorboard
