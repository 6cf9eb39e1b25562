#include "profiler/analysis/memory/timeline/memory_statements.h"

#include <optional>
#include <string_view>

namespace kymo::analysis {
namespace {

using model::Arg;
using model::ArgType;
using model::EventIndex;
using model::NameId;
using model::Trace;
using model::TrackIndex;

std::optional<MemoryCategory> ParseCategory(std::string_view name) {
  for (size_t i = 0; i < kMemoryCategories; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    if (name == MemoryCategoryName(category)) return category;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const Trace& trace, MemoryDeviceId device)
      : trace_(trace),
        device_(device),
        category_(trace.strings().Find(kMemoryCategoryInstant)),
        version_(trace.strings().Find(kMemoryVersionInstant)),
        scope_(trace.strings().Find(kMemoryScopeInstant)),
        category_arg_(trace.strings().Find(kMemoryCategoryArg)),
        address_arg_(trace.strings().Find(kMemoryAddressArg)),
        bytes_arg_(trace.strings().Find(kMemoryBytesArg)),
        type_arg_(trace.strings().Find(kMemoryDeviceTypeArg)),
        index_arg_(trace.strings().Find(kMemoryDeviceIndexArg)) {}

  MemoryStatements Read() {
    if (!category_ && !version_ && !scope_) return {};
    for (TrackIndex track = 0; track < trace_.tracks().size(); ++track) {
      open_scopes_.clear();
      for (EventIndex i = trace_.track_begin(track);
           i < trace_.track_end(track); ++i) {
        if ((trace_.flags()[i] & model::kEventInstant) == 0) continue;
        const NameId name = trace_.name()[i];
        if (name == scope_) {
          ReadScope(track, i);
        } else if (name == category_ || name == version_) {
          ReadStatement(track, i);
        }
      }
    }
    return said_;
  }

 private:
  const Arg* Find(EventIndex event, std::optional<NameId> key) const {
    for (const Arg& arg : trace_.args(event)) {
      if (arg.key == key) return &arg;
    }
    return nullptr;
  }

  std::optional<int64_t> Number(EventIndex event,
                                std::optional<NameId> key) const {
    const Arg* const arg = Find(event, key);
    if (arg == nullptr || arg->type != ArgType::kInt) return std::nullopt;
    return arg->int_value();
  }

  std::optional<MemoryCategory> Category(EventIndex event) const {
    const Arg* const arg = Find(event, category_arg_);
    if (arg == nullptr || !arg->has_text()) return std::nullopt;
    return ParseCategory(trace_.Name(arg->string_value()));
  }

  void ReadScope(TrackIndex track, EventIndex event) {
    if (const auto category = Category(event)) {
      open_scopes_.push_back(*category);
    } else if (open_scopes_.empty()) {
      return;  // it was opened before the recording
    } else {
      open_scopes_.pop_back();
    }
    said_.scopes.push_back({.track = track,
                            .time_ns = trace_.start()[event],
                            .category = open_scopes_.empty()
                                            ? MemoryCategory::kUnknown
                                            : open_scopes_.back()});
  }

  void ReadStatement(TrackIndex track, EventIndex event) {
    const auto address = Number(event, address_arg_);
    const auto type = Number(event, type_arg_);
    const auto index = Number(event, index_arg_);
    if (!address || *address == 0 || !IsOfDevice(type, index)) return;
    MemoryStatement statement = {
        .time_ns = trace_.start()[event],
        .pid = trace_.tracks()[track].pid,
        .address = static_cast<uint64_t>(*address),
        .bytes = Number(event, bytes_arg_).value_or(0),
        .is_new_version = trace_.name()[event] == version_};
    if (!statement.is_new_version) {
      const auto category = Category(event);
      if (!category) return;
      statement.category = *category;
    }
    said_.of_blocks.push_back(statement);
  }

  bool IsOfDevice(std::optional<int64_t> type,
                  std::optional<int64_t> index) const {
    if (type != static_cast<int64_t>(device_.type)) return false;
    return device_.type == DeviceType::kCpu || index == device_.index;
  }

  const Trace& trace_;
  const MemoryDeviceId device_;
  // Names that the trace does not have are nothing.
  const std::optional<NameId> category_;
  const std::optional<NameId> version_;
  const std::optional<NameId> scope_;
  const std::optional<NameId> category_arg_;
  const std::optional<NameId> address_arg_;
  const std::optional<NameId> bytes_arg_;
  const std::optional<NameId> type_arg_;
  const std::optional<NameId> index_arg_;
  std::vector<MemoryCategory> open_scopes_;  // of the track
  MemoryStatements said_;
};

}  // namespace

MemoryStatements ReadMemoryStatements(const Trace& trace,
                                      MemoryDeviceId device) {
  return Reader(trace, device).Read();
}

}  // namespace kymo::analysis
