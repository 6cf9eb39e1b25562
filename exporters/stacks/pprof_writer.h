// pprof_writer.h - writes pprof's profile.proto piece by piece.
//
//   PprofWriter pprof(trace, *sink);
//   pprof.AddSampleType("samples", "count");
//   const uint64_t locations[] = {pprof.LocationOf(frame)};   // leaf first
//   const int64_t values[] = {1};
//   pprof.AddSample(locations, values, labels);   // as Labels() made them
//   KYMO_RETURN_IF_ERROR(pprof.Finish({.default_type = "samples"}));
//
// A frame becomes one location with one line, whether it is inlined or not. Its
// address is the one within its module, and the module is the mapping of the
// location. Mappings state that everything is symbolised, so that pprof does
// not look for binaries. A range has only a name, so its location has no
// mapping and no address.
//
// Threads: one at a time. Errors: those of the sink. Finish returns the first
//   one, and nothing is written after it.
// Memory: one entry for each name, frame and range name that is used. Samples
//   are not kept.
#ifndef KYMO_EXPORTERS_STACKS_PPROF_WRITER_H_
#define KYMO_EXPORTERS_STACKS_PPROF_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exporters/proto/proto_writer.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::stacks {

// The description of a profile.
struct PprofInfo {
  std::string_view default_type;  // the sample type that pprof shows first
  // A sample was taken every `period` of this. Empty if nothing was sampled.
  std::string_view period_type;
  std::string_view period_unit;
  int64_t period = 0;
};

class PprofWriter {
 public:
  // `trace` and `sink` must outlive this object.
  PprofWriter(const model::Trace& trace, ByteSink& sink);

  // Call this before the first sample. A sample has a value for each type.
  void AddSampleType(std::string_view type, std::string_view unit);

  uint64_t LocationOf(model::FrameId frame);
  uint64_t LocationOf(model::NameId range);
  // Of a text that is no name of the trace.
  uint64_t LocationOf(const std::string& text);

  // Encodes labels. The result can be used for any number of samples.
  using Label = std::pair<std::string_view, std::string_view>;
  std::string Labels(std::span<const Label> labels);

  // `locations` begin with the innermost frame.
  void AddSample(std::span<const uint64_t> locations,
                 std::span<const int64_t> values, std::string_view labels);

  // Writes the rest of the profile. The caller commits the sink.
  absl::Status Finish(const PprofInfo& info);

 private:
  uint64_t AddFunction(uint64_t name_id, uint64_t system_name_id,
                       uint64_t file_id);
  uint64_t AddLocation(uint64_t function_id);
  uint64_t StringOf(std::string_view text);
  uint64_t StringOf(model::NameId name);
  uint64_t FunctionOf(model::NameId name, model::NameId file);
  uint64_t MappingOf(model::NameId module);
  void AddValueType(uint32_t field, std::string_view type,
                    std::string_view unit);
  // Passes the gathered bytes to the sink.
  void Flush();

  const model::Trace& trace_;
  ByteSink& sink_;
  absl::Status status_;
  std::string buffer_;
  proto::ProtoWriter out_{buffer_};

  std::map<std::string, uint64_t, std::less<>> own_strings_;
  std::vector<uint64_t> strings_;  // by NameId; 0 if it has no id yet
  uint64_t string_count_ = 0;
  std::unordered_map<uint64_t, uint64_t> functions_;        // by name and file
  std::unordered_map<uint32_t, uint64_t> mappings_;         // by NameId
  std::vector<uint64_t> frame_locations_;                   // by FrameId
  std::unordered_map<uint32_t, uint64_t> range_locations_;  // by NameId
  std::unordered_map<std::string, uint64_t> text_locations_;
  uint64_t function_count_ = 0;
  uint64_t location_count_ = 0;
};

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_PPROF_WRITER_H_
