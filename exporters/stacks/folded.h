// folded.h - folds stacks into lines of text, and writes them to a file.
//
//   const std::vector<std::string> roots = StackRoots(trace, with_threads);
//   StackWeights weights;
//   weights[StackKey(sample.track, sample.stack)] += sample.weight_ns;
//   return WriteFolded(FoldStacks(trace, roots, weights), out, "x.folded");
#ifndef KYMO_EXPORTERS_STACKS_FOLDED_H_
#define KYMO_EXPORTERS_STACKS_FOLDED_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::stacks {

// The unit of a stack's weight.
enum class Metric {
  kWeight,  // ns of time, or bytes
  kCount,   // samples, calls, or blocks
};

// The weight of each stack or path, by its text.
using Folded = std::unordered_map<std::string, int64_t>;

// Makes a frame of a text: replaces the characters that separate frames and
// lines.
std::string FrameText(std::string_view text);

// By track, the begin of its lines: "xz" or "xz;thread 12 (worker)".
std::vector<std::string> StackRoots(const model::Trace& trace,
                                    bool with_threads);

// The names of a trace as frames. Makes each of them once.
class FrameTexts {
 public:
  explicit FrameTexts(const model::Trace& trace)
      : trace_(trace), texts_(trace.strings().size()) {}

  const std::string& Get(model::NameId name);

 private:
  const model::Trace& trace_;
  std::vector<std::string> texts_;
};

// Weights by root and stack. Adding numbers first means that FoldStacks makes
// each stack's text only once.
using StackWeights = std::unordered_map<uint64_t, int64_t>;
inline uint64_t StackKey(uint32_t root, model::StackId stack) {
  return uint64_t{root} << 32 | model::Index(stack);
}

// Puts the outermost frame first. A root in `weights` is an index into `roots`.
Folded FoldStacks(const model::Trace& trace,
                  const std::vector<std::string>& roots,
                  const StackWeights& weights);

// Writes sorted lines "<stack> <weight>\n". Stacks of weight 0 are left out.
absl::Status WriteFolded(const Folded& folded, OutputDirectory& out,
                         std::string_view name);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_FOLDED_H_
