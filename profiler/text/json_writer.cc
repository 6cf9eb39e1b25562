#include "profiler/text/json_writer.h"

#include <cassert>

#include "profiler/text/json_text.h"

namespace kymo::json {

void JsonWriter::Key(std::string_view key) {
  assert(!after_key_ && !levels_.empty() && levels_.back().end == '}');
  BeforeValue();
  AppendJsonString(out_, key);
  out_ += ": ";
  after_key_ = true;
}

void JsonWriter::String(std::string_view value) {
  BeforeValue();
  AppendJsonString(out_, value);
}

void JsonWriter::Int(int64_t value) {
  BeforeValue();
  AppendInt(out_, value);
}

void JsonWriter::Uint(uint64_t value) {
  BeforeValue();
  AppendUint(out_, value);
}

void JsonWriter::Double(double value) {
  BeforeValue();
  AppendDouble(out_, value);
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  out_ += value ? "true" : "false";
}

void JsonWriter::Raw(std::string_view json) {
  assert(IsValidJson(json));
  BeforeValue();
  out_ += json;
}

void JsonWriter::Open(char begin, char end) {
  BeforeValue();
  out_ += begin;
  levels_.push_back({end, true});
}

void JsonWriter::Close() {
  assert(!levels_.empty() && !after_key_);
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.is_empty) NewLine();
  out_ += level.end;
  if (levels_.empty()) out_ += '\n';
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (!levels_.back().is_empty) out_ += ',';
  levels_.back().is_empty = false;
  NewLine();
}

void JsonWriter::NewLine() {
  out_ += '\n';
  out_.append(2 * levels_.size(), ' ');
}

}  // namespace kymo::json
