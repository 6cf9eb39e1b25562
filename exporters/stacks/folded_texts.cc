// The texts of frames and roots.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exporters/stacks/folded.h"
#include "profiler/base/strings.h"
#include "profiler/text/visible_text.h"

namespace kymo::stacks {

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

std::string WaitFrame(const analysis::WaitGroup& wait) {
  return absl::StrCat("[", ToAbsl(NameOf(wait.kind)),
                      wait.is_idle ? " wait, idle]" : " wait]");
}

std::vector<std::string> StackRoots(const Trace& trace, bool with_threads) {
  std::vector<std::string> roots;
  for (const model::Track& track : trace.tracks()) {
    const model::Process* const process = trace.FindProcess(track.pid);
    std::string name(process == nullptr ? "" : trace.Name(process->name));
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

}  // namespace kymo::stacks
