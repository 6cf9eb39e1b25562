// used_tables.h - the texts and stacks that a page needs, out of a trace's.
//
//   UsedTables tables(trace, limits.text_bytes);
//   block.Unsigned(tables.TextOf(trace.name()[event]));
//   tables.UseStack(sample.stack);
//   ...
//   tables.NumberStacks();                     // after the last UseStack
//   block.Unsigned(tables.StackOf(sample.stack));
//   KYMO_RETURN_IF_ERROR(tables.Write(sink));  // stacks, frames, strings
//
// Text 0 is the empty one, and stack 0 is the one without frames. Longer texts
// than `most_text_bytes` are cut, and say by how much.
//
//   stacks   number of stacks without the empty one; for each: its number minus
//            its parent's, its innermost frame
//   frames   number of frames; for each: function, file, module (texts), line,
//            1 if it is inlined + 2 if it is of the kernel
//   strings  number of texts; each text
//
// Threads: one at a time. Memory: 4 bytes for each text, frame and stack of the
//   trace, and what the texts take that are not the trace's.
#ifndef KYMO_EXPORTERS_HTML_USED_TABLES_H_
#define KYMO_EXPORTERS_HTML_USED_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::html {

class UsedTables {
 public:
  UsedTables(const model::Trace& trace, size_t most_text_bytes);

  uint32_t TextOf(model::NameId name);
  // Of a text that the trace does not have.
  uint32_t TextOf(const std::string& text);
  // Of encoded inputs: "[[64, 32], []]".
  uint32_t InputsOf(model::NameId encoded);

  void UseStack(model::StackId stack) { stacks_[model::Index(stack)] = 1; }
  void NumberStacks();
  // REQUIRES: UseStack(stack) before NumberStacks().
  uint32_t StackOf(model::StackId stack) const {
    return stacks_[model::Index(stack)];
  }

  // The last call.
  absl::Status Write(ByteSink& sink);

 private:
  absl::Status WriteStacks(ByteSink& sink);
  absl::Status WriteFrames(ByteSink& sink);
  absl::Status WriteTexts(ByteSink& sink) const;
  uint32_t FrameOf(model::FrameId frame);

  const model::Trace& trace_;
  const size_t most_text_bytes_;
  std::vector<uint32_t> texts_;         // by name; 0: not used yet
  std::vector<model::NameId> names_;    // by text; kEmptyName: see own_texts_
  std::vector<uint32_t> frames_;        // by frame, plus 1; 0: not used yet
  std::vector<model::FrameId> framed_;  // by number
  std::vector<uint32_t> stacks_;        // by stack
  uint32_t stack_count_ = 0;
  absl::flat_hash_map<std::string, uint32_t> own_ids_;
  absl::flat_hash_map<uint32_t, std::string> own_texts_;  // by text
  absl::flat_hash_map<model::NameId, uint32_t> inputs_;
};

}  // namespace kymo::html

#endif  // KYMO_EXPORTERS_HTML_USED_TABLES_H_
