#include "exporters/stacks/folded.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/text/visible_text.h"

namespace kymo::stacks {

using model::NameId;
using model::StackId;
using model::Trace;

std::string FrameText(std::string_view text) {
  std::string frame(text);
  for (size_t i = 0; i < frame.size(); ++i) {
    if (frame[i] == ';') frame[i] = ':';
    const size_t control_bytes = ControlBytes(frame, i);
    frame.replace(i, control_bytes, control_bytes, ' ');
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
