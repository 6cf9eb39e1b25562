#include "exporters/stacks/folded.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::stacks {

using model::NameId;
using model::StackId;
using model::Trace;

namespace {

// Whether text[at] begins U+0080 to U+009F in UTF-8, which terminals obey as
// they do the control characters of ASCII.
bool IsC1Control(std::string_view text, size_t at) {
  if (text[at] != '\xC2' || at + 1 == text.size()) return false;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next >= 0x80 && next <= 0x9F;
}

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '\x7F';
}

}  // namespace

std::string FrameText(std::string_view text) {
  std::string frame(text);
  for (size_t i = 0; i < frame.size(); ++i) {
    if (frame[i] == ';') frame[i] = ':';
    if (IsC1Control(frame, i)) frame[i] = frame[i + 1] = ' ';
    if (IsControl(frame[i])) frame[i] = ' ';
  }
  frame.erase(frame.find_last_not_of(' ') + 1);
  return frame.empty() ? "[unknown]" : frame;
}

std::vector<std::string> StackRoots(const Trace& trace, bool with_threads) {
  std::vector<std::string> roots;
  for (const model::Track& track : trace.tracks()) {
    std::string name;
    for (const model::Process& process : trace.processes()) {
      if (process.pid == track.pid) name = trace.Name(process.name);
    }
    if (name.empty()) name = absl::StrCat("process ", track.pid);
    std::string root = FrameText(name);
    if (with_threads) {
      absl::StrAppend(
          &root, ";",
          FrameText(absl::StrCat("thread ", track.id, " (",
                                 ToAbsl(trace.Name(track.name)), ")")));
    }
    roots.push_back(std::move(root));
  }
  return roots;
}

const std::string& FrameTexts::Get(NameId name) {
  std::string& text = texts_[Index(name)];
  if (text.empty()) text = FrameText(trace_.Name(name));
  return text;
}

Folded FoldStacks(const Trace& trace, const std::vector<std::string>& roots,
                  const StackWeights& weights) {
  FrameTexts texts(trace);
  Folded folded;
  for (const auto& [key, weight] : weights) {
    std::string line = roots[key >> 32];
    for (const model::FrameId frame :
         trace.stacks().Frames(StackId(static_cast<uint32_t>(key)))) {
      line += ';';
      line += texts.Get(trace.stacks().frame(frame).function);
    }
    folded[line] += weight;
  }
  return folded;
}

absl::Status WriteFolded(const Folded& folded, OutputDirectory& out,
                         std::string_view name) {
  std::vector<std::string> lines;
  for (const auto& [stack, weight] : folded) {
    if (weight > 0) lines.push_back(absl::StrCat(stack, " ", weight));
  }
  std::sort(lines.begin(), lines.end());
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink, out.Open(name));
  for (std::string& line : lines) {
    line += '\n';
    KYMO_RETURN_IF_ERROR(sink->Append(line));
  }
  return sink->Commit();
}

}  // namespace kymo::stacks
