#include "profiler/plugin/library/plugin_exporter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/activity_type.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/plugin/library/plugin_abi.h"
#include "profiler/plugin/library/plugin_call.h"
#include "profiler/plugin/library/plugin_reader.h"
#include "profiler/plugin/library/plugin_records.h"
#include "profiler/plugin/library/plugin_setting.h"
#include "profiler/text/utf8.h"

namespace kymo {
namespace {

using model::EventIndex;

struct ExporterFacts {
  decltype(KymoExporterPlugin::export_trace) export_trace = nullptr;
  PluginInfo info;
  std::vector<std::string> setting_names;  // without the plugin's
};

// Calls `function`, for a library that may be of C, through which no exception
// may go.
template <typename Function>
uint32_t WithoutExceptions(Function function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return KYMO_OUT_OF_MEMORY;
  } catch (...) {
    return KYMO_INTERNAL;
  }
}

// Fills a struct of a library, which may be of another minor version: of fields
// that one of the two lacks, the library's are 0.
template <typename T>
uint32_t Give(T from, T* to) {
  const uint32_t size = to->struct_size;
  from.struct_size = size;
  std::memcpy(to, &from, std::min<size_t>(size, sizeof(T)));
  if (size > sizeof(T)) {
    std::memset(reinterpret_cast<std::byte*>(to) + sizeof(T), 0,
                size - sizeof(T));
  }
  return KYMO_OK;
}

template <typename T>
bool CanTake(const T* to) {
  return to != nullptr && to->struct_size >= kFirstSize<T>;
}

// Texts of a trace may hold any bytes; those of C end at a zero.
const char* CText(std::string_view text, std::string& keeps) {
  std::string scratch;
  keeps = json::ToUtf8(text, scratch);
  std::replace(keeps.begin(), keeps.end(), '\0', ' ');
  return keeps.c_str();
}

// A trace as a library sees it.
class TraceForPlugin {
 public:
  // `trace` must outlive the object.
  explicit TraceForPlugin(const model::Trace& trace) : trace_(trace) {
    table_.struct_size = sizeof(table_);
    table_.host = this;
    table_.begin_ns = trace.start_ns();
    table_.end_ns = trace.end_ns();
    table_.event_count = trace.event_count();
    table_.counter_count = trace.counters().size();
    table_.fact_count = trace.metadata().size();
    table_.get_event = [](void* host, uint64_t index, KymoTraceEvent* event) {
      return WithoutExceptions([=] { return Of(host).Event(index, event); });
    };
    table_.get_arg = [](void* host, uint64_t event, uint32_t index,
                        KymoArg* arg) {
      return WithoutExceptions([=] { return Of(host).Arg(event, index, arg); });
    };
    table_.get_counter = [](void* host, uint64_t index,
                            KymoTraceCounter* counter) {
      return WithoutExceptions(
          [=] { return Of(host).Counter(index, counter); });
    };
    table_.get_fact = [](void* host, uint64_t index, KymoTraceFact* fact) {
      return WithoutExceptions([=] { return Of(host).Fact(index, fact); });
    };
  }
  TraceForPlugin(const TraceForPlugin&) = delete;
  TraceForPlugin& operator=(const TraceForPlugin&) = delete;

  const KymoTrace* table() const { return &table_; }

 private:
  static TraceForPlugin& Of(void* host) {
    return *static_cast<TraceForPlugin*>(host);
  }

  uint32_t Event(uint64_t index, KymoTraceEvent* to) {
    if (!CanTake(to)) return KYMO_INVALID_ARGUMENT;
    if (index >= trace_.event_count()) return KYMO_NOT_FOUND;
    const auto event = static_cast<EventIndex>(index);
    const model::Track& track = trace_.tracks()[trace_.track()[event]];
    const model::Detail* const detail = trace_.detail(event);
    const bool is_device = track.kind == model::TrackKind::kStream;
    const EventIndex parent = trace_.parent()[event];
    const uint8_t flags = trace_.flags()[event];
    KymoTraceEvent from = {};
    const auto flag = [&from](bool is_set, KymoEventFlag bit) {
      if (is_set) from.flags |= static_cast<uint32_t>(bit);
    };
    flag((flags & model::kEventOpen) != 0, KYMO_EVENT_OPEN);
    flag((flags & model::kEventInstant) != 0, KYMO_EVENT_INSTANT);
    flag((flags & model::kEventAsync) != 0, KYMO_EVENT_ASYNC);
    flag(is_device, KYMO_EVENT_DEVICE);
    from.name = CText(trace_.EventName(event), name_);
    from.category =
        CText(model::ActivityTypeName(trace_.type()[event]), category_);
    from.begin_ns = trace_.start()[event];
    from.end_ns = trace_.end()[event];
    from.process_id = track.pid;
    from.thread_id = track.id;
    from.parent = parent == model::kNoEvent ? -1 : int64_t{parent};
    from.device = is_device ? track.device_index : -1;
    from.arg_count = static_cast<uint32_t>(trace_.args(event).size());
    from.correlation = detail == nullptr ? 0 : detail->correlation_id;
    return Give(from, to);
  }

  uint32_t Arg(uint64_t event, uint32_t index, KymoArg* to) {
    if (to == nullptr) return KYMO_INVALID_ARGUMENT;
    if (event >= trace_.event_count()) return KYMO_NOT_FOUND;
    const std::span<const model::Arg> args =
        trace_.args(static_cast<EventIndex>(event));
    if (index >= args.size()) return KYMO_NOT_FOUND;
    const model::Arg& arg = args[index];
    *to = {};
    to->key = CText(trace_.Name(arg.key), key_);
    switch (arg.type) {
      case model::ArgType::kInt:
        to->kind = KYMO_ARG_INTEGER;
        to->integer = arg.int_value();
        to->text = NumberText(to->integer);
        break;
      case model::ArgType::kDouble:
        to->kind = KYMO_ARG_REAL;
        to->real = arg.double_value();
        to->text = NumberText(to->real);
        break;
      default:
        to->kind = KYMO_ARG_TEXT;
        to->text = CText(trace_.Name(arg.string_value()), text_);
    }
    return KYMO_OK;
  }

  uint32_t Counter(uint64_t index, KymoTraceCounter* to) {
    if (!CanTake(to)) return KYMO_INVALID_ARGUMENT;
    if (index >= trace_.counters().size()) return KYMO_NOT_FOUND;
    const model::CounterSample& counter = trace_.counters()[index];
    const model::Track& track = trace_.tracks()[counter.track];
    KymoTraceCounter from = {};
    from.name = CText(trace_.Name(counter.name), counter_name_);
    from.process_id = track.pid;
    from.thread_id = track.id;
    from.time_ns = counter.time_ns;
    from.value = counter.value;
    return Give(from, to);
  }

  uint32_t Fact(uint64_t index, KymoTraceFact* to) {
    if (!CanTake(to)) return KYMO_INVALID_ARGUMENT;
    if (index >= trace_.metadata().size()) return KYMO_NOT_FOUND;
    const model::Metadata& fact = trace_.metadata()[index];
    KymoTraceFact from = {};
    from.key = CText(trace_.Name(fact.key), fact_key_);
    from.json = CText(trace_.Name(fact.json_value), fact_json_);
    return Give(from, to);
  }

  // The shortest text that reads as the same number.
  template <typename Number>
  const char* NumberText(Number number) {
    std::array<char, 64> text = {};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), number);
    text_.assign(text.data(), end);
    return text_.c_str();
  }

  const model::Trace& trace_;
  KymoTrace table_ = {};
  // What each function gave last.
  std::string name_, category_, key_, text_, counter_name_, fact_key_,
      fact_json_;
};

// The files of a library.
class OutputForPlugin {
 public:
  // The arguments must outlive the object.
  OutputForPlugin(const ExporterFacts& facts, const ExportOptions& options,
                  OutputDirectory& out)
      : values_(PluginSettingValues(facts.info, facts.setting_names,
                                    options.settings)),
        options_(options),
        out_(out) {
    table_.struct_size = sizeof(table_);
    table_.setting_count = static_cast<uint32_t>(values_.size());
    table_.host = this;
    table_.settings = values_.data();
    table_.write = [](void* host, const char* name, const void* bytes,
                      size_t size) {
      return WithoutExceptions(
          [=] { return Of(host).TryToWrite(name, bytes, size); });
    };
    table_.progress = [](void* host, double part) {
      WithoutExceptions([=]() -> uint32_t {
        const auto& progress = Of(host).options_.progress;
        if (progress && part >= 0 && part <= 1) progress(part);
        return KYMO_OK;
      });
    };
  }
  OutputForPlugin(const OutputForPlugin&) = delete;
  OutputForPlugin& operator=(const OutputForPlugin&) = delete;

  const KymoOutput* table() const { return &table_; }

  // The first error of writing.
  const absl::Status& status() const { return status_; }

  // Makes the files visible, and returns their names. REQUIRES: no error.
  absl::StatusOr<std::vector<std::string>> Finish() {
    std::vector<std::string> names;
    for (const auto& [name, sink] : sinks_) {
      if (absl::Status status = sink->Commit(); !status.ok()) {
        for (const std::string& written : names) out_.Remove(written);
        return status;
      }
      names.push_back(name);
    }
    return names;
  }

 private:
  static OutputForPlugin& Of(void* host) {
    return *static_cast<OutputForPlugin*>(host);
  }

  uint32_t TryToWrite(const char* name, const void* bytes, size_t size) {
    if (!status_.ok()) return KYMO_INTERNAL;
    try {
      status_ = Write(PluginText(name), bytes, size);
    } catch (const std::bad_alloc&) {
      status_ = absl::ResourceExhaustedError("not enough memory");
      throw;
    }
    return status_.ok() ? KYMO_OK : KYMO_INTERNAL;
  }

  absl::Status Write(const std::string& name, const void* bytes, size_t size) {
    if (bytes == nullptr && size != 0) {
      return absl::InvalidArgumentError("it writes bytes at NULL");
    }
    auto file = sinks_.find(name);
    if (file == sinks_.end()) {
      KYMO_RETURN_IF_ERROR(CheckName(name));
      KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out_.Open(name));
      file = sinks_.emplace(name, std::move(sink)).first;
    }
    return file->second->Append(
        std::string_view(static_cast<const char*>(bytes), size));
  }

  // A file is within the user's folder.
  static absl::Status CheckName(const std::string& name) {
    const std::filesystem::path path(name);
    const bool leaves = std::find(path.begin(), path.end(), "..") != path.end();
    if (!path.empty() && path.is_relative() && path.has_filename() && !leaves) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("it writes a file '", name,
                     "', which is not the name of a file in the output "
                     "folder"));
  }

  const std::vector<KymoSettingValue> values_;
  const ExportOptions& options_;
  OutputDirectory& out_;
  KymoOutput table_ = {};
  std::map<std::string, std::unique_ptr<ByteSink>> sinks_;
  absl::Status status_;
};

class PluginExporter final : public TraceExporter {
 public:
  explicit PluginExporter(ExporterFacts facts) : facts_(std::move(facts)) {}

  const PluginInfo& info() const noexcept override { return facts_.info; }

  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    const TraceForPlugin for_plugin(trace);
    OutputForPlugin output(facts_, options, out);
    const absl::Status called = GuardedCall("export_trace", [&] {
      return CallPlugin("export_trace", facts_.export_trace, for_plugin.table(),
                        output.table());
    });
    // What could not be written explains more than the library can.
    if (!output.status().ok()) return Named(output.status());
    if (!called.ok()) return Named(called);
    absl::StatusOr<std::vector<std::string>> names = output.Finish();
    if (!names.ok()) return Named(names.status());
    return names;
  }

  // Plugins see nothing of the heap.
  HeapRecordNeed HeapRecordsNeeded(const ExportOptions&) const override {
    return {.most = 0};
  }

 private:
  absl::Status Named(const absl::Status& status) const {
    return absl::Status(
        status.code(),
        absl::StrCat("exporter ", facts_.info.name, ": ", status.message()));
  }

  const ExporterFacts facts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TraceExporter>> AdaptExporter(
    const KymoExporterPlugin* plugin, const std::string& path) {
  const PluginReader reader({path, "exporter", "kymo/exporter_plugin.h"});
  KYMO_RETURN_IF_ERROR(reader.CheckVersion(plugin));
  const KymoExporterPlugin copy = CopySized(plugin);
  ExporterFacts facts;
  KYMO_RETURN_IF_ERROR(reader.ReadNames(copy.name, copy.purpose, facts.info));
  if (copy.export_trace == nullptr) {
    return reader.Wrong("export_trace is NULL");
  }
  facts.export_trace = copy.export_trace;
  KYMO_RETURN_IF_ERROR(reader.ReadSettings(copy.settings, copy.setting_count,
                                           facts.info, facts.setting_names));
  return std::make_unique<PluginExporter>(std::move(facts));
}

}  // namespace kymo
