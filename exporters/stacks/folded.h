// folded.h - stacks as lines of text, and the file of them.
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

// What a stack weighs.
enum class Metric {
  kWeight,  // ns of time, or bytes
  kCount,   // samples, calls, or blocks
};

// Stack or path, by text, and its weight.
using Folded = std::unordered_map<std::string, int64_t>;

// Text as a frame: without what separates frames and lines.
std::string FrameText(std::string_view text);

// What lines begin with, by track: "xz" or "xz;thread 12 (worker)".
std::vector<std::string> StackRoots(const model::Trace& trace,
                                    bool with_threads);

// The names of a trace as frames, each made once.
class FrameTexts {
 public:
  explicit FrameTexts(const model::Trace& trace)
      : trace_(trace), texts_(trace.strings().size()) {}

  const std::string& Get(model::NameId name);

 private:
  const model::Trace& trace_;
  std::vector<std::string> texts_;
};

// Weights by root and stack: numbers first, text once per stack.
using StackWeights = std::unordered_map<uint64_t, int64_t>;
inline uint64_t StackKey(uint32_t root, model::StackId stack) {
  return uint64_t{root} << 32 | model::Index(stack);
}

// Outermost frames first. The roots of `weights` are positions in `roots`.
Folded FoldStacks(const model::Trace& trace,
                  const std::vector<std::string>& roots,
                  const StackWeights& weights);

// "<stack> <weight>\n", sorted; stacks that weigh nothing are left out.
absl::Status WriteFolded(const Folded& folded, OutputDirectory& out,
                         std::string_view name);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_FOLDED_H_
