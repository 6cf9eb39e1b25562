#include "exporters/html/used_tables.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "exporters/html/data_block.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/op_inputs.h"

namespace kymo::html {

using model::Index;

UsedTables::UsedTables(const model::Trace& trace, size_t most_text_bytes)
    : trace_(trace),
      most_text_bytes_(most_text_bytes),
      texts_(trace.strings().size()),
      names_(1, model::kEmptyName),
      frames_(trace.stacks().frame_count()),
      stacks_(trace.stacks().stack_count()) {}

uint32_t UsedTables::TextOf(model::NameId name) {
  if (name == model::kEmptyName) return 0;
  uint32_t& text = texts_[Index(name)];
  if (text == 0) {
    text = static_cast<uint32_t>(names_.size());
    names_.push_back(name);
  }
  return text;
}

uint32_t UsedTables::TextOf(const std::string& text) {
  if (const auto name = trace_.strings().Find(text)) return TextOf(*name);
  const auto [own, is_new] =
      own_ids_.try_emplace(text, static_cast<uint32_t>(names_.size()));
  if (is_new) {
    own_texts_[own->second] = text;
    names_.push_back(model::kEmptyName);
  }
  return own->second;
}

uint32_t UsedTables::InputsOf(model::NameId encoded) {
  if (encoded == model::kEmptyName) return 0;
  const auto [text, is_new] = inputs_.try_emplace(encoded, 0);
  if (is_new) {
    text->second = TextOf(model::InputShapesText(trace_.Name(encoded)));
  }
  return text->second;
}

void UsedTables::NumberStacks() {
  const model::StackTable& table = trace_.stacks();
  // Parents stand before their children.
  for (size_t i = stacks_.size(); i-- > 1;) {
    const model::StackId stack{static_cast<uint32_t>(i)};
    if (stacks_[i] != 0) stacks_[Index(table.parent(stack))] = 1;
  }
  for (size_t i = 1; i < stacks_.size(); ++i) {
    if (stacks_[i] != 0) stacks_[i] = ++stack_count_;
  }
  stacks_[0] = 0;
}

uint32_t UsedTables::FrameOf(model::FrameId frame) {
  uint32_t& number = frames_[Index(frame)];
  if (number == 0) {
    framed_.push_back(frame);
    number = static_cast<uint32_t>(framed_.size());
  }
  return number - 1;
}

absl::Status UsedTables::Write(ByteSink& sink) {
  KYMO_RETURN_IF_ERROR(WriteStacks(sink));
  KYMO_RETURN_IF_ERROR(WriteFrames(sink));
  return WriteTexts(sink);
}

absl::Status UsedTables::WriteStacks(ByteSink& sink) {
  const model::StackTable& table = trace_.stacks();
  DataBlock block("stacks", sink);
  block.Unsigned(stack_count_);
  for (size_t i = 1; i < stacks_.size(); ++i) {
    if (stacks_[i] == 0) continue;
    const model::StackId stack{static_cast<uint32_t>(i)};
    block.Unsigned(stacks_[i] - stacks_[Index(table.parent(stack))]);
    block.Unsigned(FrameOf(table.leaf(stack)));
  }
  return block.End();
}

absl::Status UsedTables::WriteFrames(ByteSink& sink) {
  DataBlock block("frames", sink);
  block.Unsigned(framed_.size());
  for (const model::FrameId id : framed_) {
    const model::Frame& frame = trace_.stacks().frame(id);
    block.Unsigned(TextOf(frame.function));
    block.Unsigned(TextOf(frame.file));
    block.Unsigned(TextOf(frame.module));
    block.Unsigned(frame.line);
    block.Unsigned((frame.is_inlined ? 1 : 0) + (frame.is_kernel ? 2 : 0));
  }
  return block.End();
}

absl::Status UsedTables::WriteTexts(ByteSink& sink) const {
  DataBlock block("strings", sink);
  block.Unsigned(names_.size());
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto own = own_texts_.find(static_cast<uint32_t>(i));
    const std::string_view text = own == own_texts_.end()
                                      ? trace_.Name(names_[i])
                                      : std::string_view(own->second);
    if (text.size() <= most_text_bytes_) {
      block.Text(text);
    } else {
      block.Text(absl::StrCat(std::string(text.substr(0, most_text_bytes_)),
                              "... [", text.size() - most_text_bytes_,
                              " bytes more]"));
    }
  }
  return block.End();
}

}  // namespace kymo::html
