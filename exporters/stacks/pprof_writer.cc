#include "exporters/stacks/pprof_writer.h"

#include <algorithm>

#include "exporters/stacks/profile.pb.h"
#include "profiler/text/utf8.h"

namespace kymo::stacks {
namespace {

constexpr size_t kFlushBytes = 256 << 10;

// Appends the elements of a packed list. They gather in an array, because a
// string is slow to extend by a few bytes.
template <typename Number>
void AppendPacked(std::string& out, std::span<const Number> numbers) {
  constexpr size_t kPieceNumbers = 32;
  while (!numbers.empty()) {
    const size_t count = std::min(numbers.size(), kPieceNumbers);
    char bytes[kPieceNumbers * proto::kMaxVarintBytes];
    char* to = bytes;
    for (const Number number : numbers.first(count)) {
      to = proto::PutVarint(to, static_cast<uint64_t>(number));
    }
    out.append(bytes, to);
    numbers = numbers.subspan(count);
  }
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 == 0
}

// The first process's own file among the modules of frames; empty: none.
model::NameId ProgramModule(const model::Trace& trace) {
  if (trace.processes().empty()) return model::kEmptyName;
  const model::Process& process = trace.processes().front();
  std::string_view command = trace.Name(process.command_line);
  command = BaseName(command.substr(0, command.find(' ')));
  const model::StackTable& stacks = trace.stacks();
  for (uint32_t i = 0; i < stacks.frame_count(); ++i) {
    const model::NameId module = stacks.frame(model::FrameId{i}).module;
    const std::string_view name = BaseName(trace.Name(module));
    if (name.empty()) continue;
    if (name == command || name == trace.Name(process.name)) return module;
  }
  return model::kEmptyName;
}

}  // namespace

PprofWriter::PprofWriter(const model::Trace& trace, ByteSink& sink)
    : trace_(trace),
      sink_(sink),
      strings_(trace.strings().size()),
      frame_locations_(trace.stacks().frame_count()) {
  StringOf("");  // which must be the first
  // Readers take the first mapping for the program.
  MappingOf(ProgramModule(trace));
}

void PprofWriter::Flush() {
  if (status_.ok()) status_ = sink_.Append(buffer_);
  buffer_.clear();
}

uint64_t PprofWriter::StringOf(std::string_view text) {
  const auto it = own_strings_.find(text);
  if (it != own_strings_.end()) return it->second;
  std::string scratch;
  out_.String(schema::Profile::kStringTableFieldNumber,
              json::ToUtf8(text, scratch));
  own_strings_.emplace(text, string_count_);
  return string_count_++;
}

uint64_t PprofWriter::StringOf(model::NameId name) {
  if (name == model::kEmptyName) return 0;
  uint64_t& id = strings_[Index(name)];
  if (id == 0) {
    std::string scratch;
    out_.String(schema::Profile::kStringTableFieldNumber,
                json::ToUtf8(trace_.Name(name), scratch));
    id = string_count_++;
  }
  return id;
}

void PprofWriter::AddValueType(uint32_t field, std::string_view type,
                               std::string_view unit) {
  const uint64_t type_id = StringOf(type);
  const uint64_t unit_id = StringOf(unit);
  const size_t entry = out_.Begin(field);
  out_.Uint(schema::ValueType::kTypeFieldNumber, type_id);
  out_.Uint(schema::ValueType::kUnitFieldNumber, unit_id);
  out_.End(entry);
}

void PprofWriter::AddSampleType(std::string_view type, std::string_view unit) {
  AddValueType(schema::Profile::kSampleTypeFieldNumber, type, unit);
}

uint64_t PprofWriter::FunctionOf(model::NameId name, model::NameId file) {
  uint64_t& id = functions_[uint64_t{Index(name)} << 32 | Index(file)];
  if (id == 0) {
    const uint64_t name_id =
        name == model::kEmptyName ? StringOf("[unknown]") : StringOf(name);
    // pprof takes a name that is the system's name, too, for one to shorten. Of
    // Rust's "<A as B>::f" it would leave "::f".
    const uint64_t system_name_id =
        trace_.Name(name).starts_with('<') ? 0 : name_id;
    id = AddFunction(name_id, system_name_id, StringOf(file));
  }
  return id;
}

uint64_t PprofWriter::AddFunction(uint64_t name_id, uint64_t system_name_id,
                                  uint64_t file_id) {
  const size_t entry = out_.Begin(schema::Profile::kFunctionFieldNumber);
  out_.Uint(schema::Function::kIdFieldNumber, ++function_count_);
  out_.Uint(schema::Function::kNameFieldNumber, name_id);
  if (system_name_id != 0) {
    out_.Uint(schema::Function::kSystemNameFieldNumber, system_name_id);
  }
  out_.Uint(schema::Function::kFilenameFieldNumber, file_id);
  out_.End(entry);
  return function_count_;
}

uint64_t PprofWriter::MappingOf(model::NameId module) {
  if (module == model::kEmptyName) return 0;
  const auto [it, is_new] =
      mappings_.try_emplace(Index(module), mappings_.size() + 1);
  if (is_new) {
    const uint64_t file_id = StringOf(module);
    const size_t entry = out_.Begin(schema::Profile::kMappingFieldNumber);
    out_.Uint(schema::Mapping::kIdFieldNumber, it->second);
    out_.Uint(schema::Mapping::kFilenameFieldNumber, file_id);
    for (const uint32_t flag : {schema::Mapping::kHasFunctionsFieldNumber,
                                schema::Mapping::kHasFilenamesFieldNumber,
                                schema::Mapping::kHasLineNumbersFieldNumber,
                                schema::Mapping::kHasInlineFramesFieldNumber}) {
      out_.Uint(flag, 1);
    }
    out_.End(entry);
  }
  return it->second;
}

uint64_t PprofWriter::LocationOf(model::FrameId id) {
  uint64_t& known = frame_locations_[Index(id)];
  if (known != 0) return known;
  known = ++location_count_;
  const model::Frame& frame = trace_.stacks().frame(id);
  const uint64_t function_id = FunctionOf(frame.function, frame.file);
  const uint64_t mapping_id = MappingOf(frame.module);
  const size_t entry = out_.Begin(schema::Profile::kLocationFieldNumber);
  out_.Uint(schema::Location::kIdFieldNumber, known);
  if (mapping_id != 0) {
    out_.Uint(schema::Location::kMappingIdFieldNumber, mapping_id);
  }
  out_.Uint(schema::Location::kAddressFieldNumber, frame.address);
  const size_t place = out_.Begin(schema::Location::kLineFieldNumber);
  out_.Uint(schema::Line::kFunctionIdFieldNumber, function_id);
  out_.Uint(schema::Line::kLineFieldNumber, frame.line);
  out_.End(place);
  out_.End(entry);
  return known;
}

uint64_t PprofWriter::LocationOf(model::NameId range) {
  uint64_t& id = range_locations_[Index(range)];
  if (id == 0) id = AddLocation(FunctionOf(range, model::kEmptyName));
  return id;
}

uint64_t PprofWriter::LocationOf(const std::string& text) {
  uint64_t& id = text_locations_[text];
  if (id == 0) {
    const uint64_t name_id = StringOf(text);
    id = AddLocation(AddFunction(name_id, name_id, StringOf("")));
  }
  return id;
}

uint64_t PprofWriter::AddLocation(uint64_t function_id) {
  const size_t entry = out_.Begin(schema::Profile::kLocationFieldNumber);
  out_.Uint(schema::Location::kIdFieldNumber, ++location_count_);
  const size_t place = out_.Begin(schema::Location::kLineFieldNumber);
  out_.Uint(schema::Line::kFunctionIdFieldNumber, function_id);
  out_.End(place);
  out_.End(entry);
  return location_count_;
}

std::string PprofWriter::Labels(std::span<const Label> labels) {
  std::string encoded;
  proto::ProtoWriter writer(encoded);
  for (const auto& [key, text] : labels) {
    const uint64_t key_id = StringOf(key);
    const uint64_t text_id = StringOf(text);
    const size_t entry = writer.Begin(schema::Sample::kLabelFieldNumber);
    writer.Uint(schema::Label::kKeyFieldNumber, key_id);
    writer.Uint(schema::Label::kStrFieldNumber, text_id);
    writer.End(entry);
  }
  return encoded;
}

void PprofWriter::AddSample(std::span<const uint64_t> locations,
                            std::span<const int64_t> values,
                            std::string_view labels) {
  const size_t entry = out_.Begin(schema::Profile::kSampleFieldNumber);
  const size_t location_list =
      out_.Begin(schema::Sample::kLocationIdFieldNumber);
  AppendPacked(buffer_, locations);
  out_.End(location_list);
  const size_t value_list = out_.Begin(schema::Sample::kValueFieldNumber);
  AppendPacked(buffer_, values);
  out_.End(value_list);
  buffer_ += labels;
  out_.End(entry);
  if (buffer_.size() >= kFlushBytes) Flush();
}

absl::Status PprofWriter::Finish(const PprofInfo& info) {
  const uint64_t default_type = StringOf(info.default_type);
  if (!info.period_type.empty()) {
    AddValueType(schema::Profile::kPeriodTypeFieldNumber, info.period_type,
                 info.period_unit);
    out_.Int(schema::Profile::kPeriodFieldNumber, info.period);
  }
  out_.Uint(schema::Profile::kDefaultSampleTypeFieldNumber, default_type);
  out_.Int(schema::Profile::kTimeNanosFieldNumber, trace_.start_ns());
  out_.Int(schema::Profile::kDurationNanosFieldNumber,
           trace_.end_ns() - trace_.start_ns());
  Flush();
  return status_;
}

}  // namespace kymo::stacks
