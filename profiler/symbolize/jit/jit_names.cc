#include "profiler/symbolize/jit/jit_names.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "profiler/base/clock.h"
#include "profiler/symbolize/jit/jit_code.h"
#include "profiler/symbolize/jit/jit_files.h"
#include "profiler/symbolize/jit/jit_function_name.h"
#include "profiler/symbolize/jit/jit_readers.h"

namespace kymo::symbolize {
namespace {

// How long to wait at least before a program's files are read again.
constexpr DurationNs kReadAgeNs = 100 * kNsPerMs;

}  // namespace

struct JitNames::Program {
  int64_t pid = 0;
  uint32_t parent = 0;
  std::string dump_path;
  bool is_wanted = false;  // it has places
  bool has_ended = false;
  TimeNs read_ns = JitCode::kAlways;
  std::optional<JitFiles> files;
  OwnedDescriptor map_file;
  OwnedDescriptor dump_file;
  PerfMapReader map_reader;
  JitDumpReader dump_reader{EpochOffsetNs()};
  JitCode map{JitCode::Times::kGuessed};
  JitCode dump{JitCode::Times::kExact};
};

struct JitNames::Found {
  const JitCode* code = nullptr;
  JitCode::Answer answer;
};

JitNames::JitNames(ModuleTable* modules, RawStacks* stacks)
    : modules_(*modules),
      stacks_(*stacks),
      programs_(1),
      spare_nodes_(stacks->most_nodes()) {}

JitNames::~JitNames() = default;

uint32_t JitNames::AddProgram(int64_t pid, uint32_t parent) {
  programs_.push_back(std::make_unique<Program>());
  programs_.back()->pid = pid;
  programs_.back()->parent = parent;
  return static_cast<uint32_t>(programs_.size() - 1);
}

void JitNames::OnDump(uint32_t program, const std::string& path) {
  programs_[program]->dump_path = path;
}

void JitNames::Claim(uint32_t program, TimeNs now_ns,
                     std::vector<CodePlace>& frames) {
  bool has_memory = false;
  for (CodePlace& place : frames) {
    if (!modules_.module(place.module).is_memory()) continue;
    has_memory = true;
    const auto [at, is_new] = claimed_.try_emplace({program, place.module});
    if (is_new) {
      at->second = modules_.AddMemory(modules_.module(place.module).path());
      memory_.resize(modules_.size());
      memory_[at->second] = {program, place.module};
    }
    place.module = at->second;
  }
  Program& of = *programs_[program];
  if (!has_memory) return;
  of.is_wanted = true;
  if (!of.has_ended &&
      (of.read_ns == JitCode::kAlways || now_ns - of.read_ns >= kReadAgeNs)) {
    Read(of, now_ns);
  }
}

void JitNames::Read(Program& program, TimeNs now_ns) {
  program.read_ns = now_ns;
  if (!program.files) program.files = JitFiles::Of(program.pid);
  if (!program.map_file.is_open()) {
    program.map_file = program.files->OpenPerfMap();
  }
  if (!program.dump_file.is_open()) {
    program.dump_file = program.files->OpenDump(program.dump_path);
  }
  if (program.map_file.is_open()) {
    program.map_reader.Read(program.map_file.get(), now_ns, program.map);
  }
  if (program.dump_file.is_open()) {
    program.dump_reader.Read(program.dump_file.get(), program.dump);
  }
}

void JitNames::OnEnd(uint32_t program, TimeNs now_ns) {
  Program& ended = *programs_[program];
  if (ended.is_wanted && !ended.has_ended) Read(ended, now_ns);
  ended.has_ended = true;
  // A program of many short processes would take all descriptors that there
  // are.
  ended.files.reset();
  ended.map_file = {};
  ended.dump_file = {};
}

void JitNames::ReadAll(TimeNs now_ns) {
  settled_.clear();
  if (memory_.empty()) return;
  std::vector<std::vector<uint64_t>> addresses(programs_.size());
  for (const RawStacks::Node& node : stacks_.nodes()) {
    if (node.place.module >= memory_.size()) continue;
    // Those that it came out of may have the name.
    for (uint32_t program = memory_[node.place.module].program; program != 0;
         program = programs_[program]->parent) {
      programs_[program]->is_wanted = true;
      addresses[program].push_back(node.place.address);
    }
  }
  for (size_t i = 1; i < programs_.size(); ++i) {
    Program& program = *programs_[i];
    if (!program.is_wanted) continue;
    if (!program.has_ended) Read(program, now_ns);
    program.map_reader.Finish(program.map);
    std::ranges::sort(addresses[i]);
    addresses[i].erase(std::unique(addresses[i].begin(), addresses[i].end()),
                       addresses[i].end());
    program.map.Index(addresses[i]);
    program.dump.Index(addresses[i]);
  }
}

bool JitNames::IsClaimed(RawStackId stack) {
  const auto& nodes = stacks_.nodes();
  for (size_t i = is_claimed_.size(); i < nodes.size(); ++i) {
    const ModuleId module = nodes[i].place.module;
    is_claimed_.push_back(
        (i != 0 && is_claimed_[nodes[i].parent]) ||
        (module < memory_.size() && memory_[module].program != 0));
  }
  return is_claimed_[stack];
}

// The answer of the first source that has one, as long as no better source has
// another.
JitNames::Found JitNames::Find(uint32_t program, uint64_t address,
                               TimeNs time_ns) const {
  Found found;
  for (; program != 0; program = programs_[program]->parent) {
    for (const JitCode* const code :
         {&programs_[program]->dump, &programs_[program]->map}) {
      const JitCode::Answer answer = code->Find(address, time_ns);
      found.answer.from_ns = std::max(found.answer.from_ns, answer.from_ns);
      found.answer.to_ns = std::min(found.answer.to_ns, answer.to_ns);
      if (answer.function == nullptr) continue;
      found.answer.function = answer.function;
      found.code = code;
      return found;
    }
  }
  return found;
}

CodePlace JitNames::NameOf(const CodePlace& place, TimeNs time_ns,
                           Settled& settled) {
  const Found found =
      Find(memory_[place.module].program, place.address, time_ns);
  settled.from_ns = std::max(settled.from_ns, found.answer.from_ns);
  settled.to_ns = std::min(settled.to_ns, found.answer.to_ns);
  if (found.answer.function == nullptr) settled.is_known = false;
  return {ModuleTable::kJit, FrameOf(found, place)};
}

uint64_t JitNames::FrameOf(const Found& found, const CodePlace& place) {
  const ElfModule& memory = modules_.module(memory_[place.module].module);
  Frame frame{
      .frame = {.function = memory.FunctionInMemory(), .is_resolved = false},
      .module = memory.path()};
  if (found.answer.function != nullptr) {
    frame.frame = NameOfJitFunction(found.code->name(*found.answer.function));
    frame.module = "[jit]";
    const JitCode::Place line =
        found.code->LineOf(*found.answer.function, place.address);
    if (!line.file.empty()) {
      frame.frame.file = line.file;
      frame.frame.line = line.line;
    }
  }
  const auto [at, is_new] = frame_ids_.try_emplace(
      {frame.module, frame.frame.function, frame.frame.file, frame.frame.line},
      frames_.size());
  if (is_new) frames_.push_back(std::move(frame));
  return at->second;
}

JitNames::Settled JitNames::SettleNow(RawStackId stack, TimeNs time_ns) {
  const auto& nodes = stacks_.nodes();
  Settled settled{.from_ns = JitCode::kAlways, .to_ns = JitCode::kForever};
  std::vector<CodePlace> leaf_first;
  for (RawStackId at = stack; at != 0; at = nodes[at].parent) {
    const CodePlace& place = nodes[at].place;
    const bool is_memory =
        place.module < memory_.size() && memory_[place.module].program != 0;
    leaf_first.push_back(is_memory ? NameOf(place, time_ns, settled) : place);
    if (at == stack) settled.is_unnamed_leaf = !settled.is_known;
  }
  settled.stack = Intern(leaf_first);
  return settled;
}

// A stack and its settled form count once in the limit.
RawStackId JitNames::Intern(const std::vector<CodePlace>& leaf_first) {
  const size_t before = stacks_.nodes().size();
  const size_t limit = stacks_.most_nodes();
  const bool has_room = spare_nodes_ >= leaf_first.size() &&
                        limit < std::numeric_limits<size_t>::max() / 2;
  if (has_room) stacks_.set_most_nodes(limit + leaf_first.size());
  const RawStackId stack = stacks_.Intern(leaf_first);
  const size_t made = stacks_.nodes().size() - before;
  if (has_room) {
    stacks_.set_most_nodes(limit + made);
    spare_nodes_ -= made;
  }
  return stack;
}

const JitNames::Settled& JitNames::SettledAt(RawStackId stack, TimeNs time_ns) {
  const auto [at, is_new] = settled_.try_emplace(stack);
  Settled& settled = at->second;
  if (is_new || time_ns < settled.from_ns || time_ns >= settled.to_ns) {
    settled = SettleNow(stack, time_ns);
  }
  return settled;
}

RawStackId JitNames::Settle(RawStackId stack, TimeNs time_ns, bool only_known) {
  if (!IsClaimed(stack)) return stack;
  const Settled& settled = SettledAt(stack, time_ns);
  if (settled.is_unnamed_leaf) {
    const ModuleId module = stacks_.nodes()[stack].place.module;
    ++unnamed_[programs_[memory_[module].program]->pid];
  }
  return only_known && !settled.is_known ? stack : settled.stack;
}

RawStackId JitNames::SettleUncounted(RawStackId stack, TimeNs time_ns) {
  return IsClaimed(stack) ? SettledAt(stack, time_ns).stack : stack;
}

std::vector<int64_t> JitNames::TooLarge() const {
  std::vector<int64_t> pids;
  for (size_t i = 1; i < programs_.size(); ++i) {
    const Program& program = *programs_[i];
    if (program.map.left_out() + program.dump.left_out() > 0 ||
        program.map_reader.is_too_large() ||
        program.dump_reader.is_too_large()) {
      pids.push_back(program.pid);
    }
  }
  return pids;
}

}  // namespace kymo::symbolize
