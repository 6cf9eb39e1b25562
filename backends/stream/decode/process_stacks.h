// process_stacks.h - names for the stacks that operations were recorded with.
//
// The mappings of this process are read when its first stack comes. Those of a
// recorded process are in its records; their files are opened now. Addresses
// and mappings carry the numbers of their files in their top bits (layout.h).
// So files that lay at one place, one after the other, are apart here. If the
// mapping of a file was not recorded, its addresses are looked up without the
// number.
//
// A stack has a number until all records have been read. Then Name replaces
// numbers by ids.
//
// Threads: none. The shard is borrowed.
#ifndef KYMO_BACKENDS_STREAM_DECODE_PROCESS_STACKS_H_
#define KYMO_BACKENDS_STREAM_DECODE_PROCESS_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/layout.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/stack_symbolizer.h"

namespace kymo::stream {

class ProcessStacks {
 public:
  // Details that the shard has now are not its own.
  explicit ProcessStacks(model::TraceShard* shard)
      : shard_(*shard),
        first_detail_(shard->details.size()),
        symbolizer_(&modules_) {}
  ProcessStacks(const ProcessStacks&) = delete;
  ProcessStacks& operator=(const ProcessStacks&) = delete;

  // A file that was changed after the process began is not used, since the
  // process may have mapped its earlier contents.
  void AddMapping(int64_t pid, const record::MappingPayload& mapping,
                  std::string_view path);
  // Returns a number. `pcs`: return addresses, innermost first.
  model::StackId Add(int64_t pid, std::span<const uint64_t> pcs);
  // Adds the stacks to the shard, and gives their ids to its details, its
  // memory records and its sums of memory, which have numbers.
  void Name();

 private:
  struct Process {
    symbolize::AddressSpace space;
    // By number: whether mappings of the file were recorded.
    std::vector<bool> files;

    void AddFile(size_t number);
    bool HasFile(size_t number) const {
      return number < files.size() && files[number];
    }
  };

  // When the process attached, after its last exec.
  TimeNs StartOf(int64_t pid) const;
  bool IsRecorder(const model::Frame& frame) const;
  // By number.
  std::vector<model::StackId> MakeIds();

  model::TraceShard& shard_;
  const size_t first_detail_;
  symbolize::ModuleTable modules_;
  // By process; nodes stay where they are, as the symbolizer needs.
  std::map<int64_t, Process> processes_;
  symbolize::StackSymbolizer symbolizer_;
  std::vector<uint64_t> pcs_;  // of the stack that is being added
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_PROCESS_STACKS_H_
