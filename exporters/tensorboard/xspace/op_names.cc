#include "exporters/tensorboard/xspace/op_names.h"

#include <atomic>
#include <cctype>
#include <cstddef>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/base/parallel.h"
#include "profiler/model/activity_type.h"

namespace kymo::tensorboard {
namespace {

constexpr size_t kMaxBytes = 500;

bool IsAlphanumeric(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return byte < 0x80 && std::isalnum(byte);
}

bool IsCapital(char c) { return c >= 'A' && c <= 'Z'; }

// [A-Za-z0-9.][A-Za-z0-9_./>-]*, without empty parts between slashes.
std::string ScopedName(std::string_view name) {
  std::string scoped;
  for (size_t i = 0; i < name.size() && scoped.size() < kMaxBytes; ++i) {
    const bool is_scope = name.substr(i, 2) == "::";
    if (is_scope) ++i;
    if (is_scope || name[i] == '/') {
      if (!scoped.empty() && scoped.back() != '/') scoped += '/';
    } else if (IsAlphanumeric(name[i]) || name[i] == '.' || name[i] == '-') {
      scoped += name[i];
    } else {
      scoped += '_';
    }
  }
  while (!scoped.empty() && scoped.back() == '/') scoped.pop_back();
  const bool starts_well =
      !scoped.empty() && (IsAlphanumeric(scoped[0]) || scoped[0] == '.');
  return starts_well ? scoped : "op" + scoped;
}

// [A-Z_][A-Za-z0-9_]*, or [a-z_][a-z0-9_]*.
std::string TypeOf(std::string_view scoped) {
  std::string type(scoped.substr(scoped.rfind('/') + 1));
  bool has_capital = false;
  for (char& c : type) {
    if (!IsAlphanumeric(c)) c = '_';
    has_capital |= IsCapital(c);
  }
  if (std::isdigit(static_cast<unsigned char>(type[0]))) return "_" + type;
  if (has_capital) {
    type[0] =
        static_cast<char>(std::toupper(static_cast<unsigned char>(type[0])));
  }
  return type;
}

std::string Numbered(const std::string& scoped, uint64_t number) {
  return absl::StrCat(scoped, "_", number);
}

// The names of operations, ascending.
std::vector<model::NameId> FindOperations(const model::Trace& trace) {
  constexpr size_t kGrain = 64 * 1024;
  std::vector<uint8_t> marks(trace.strings().size());
  ParallelFor(trace.event_count(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (trace.type()[i] != model::ActivityType::kCpuOp) continue;
      const std::atomic_ref<uint8_t> mark(marks[Index(trace.name()[i])]);
      if (mark.load(std::memory_order_relaxed) == 0) {
        mark.store(1, std::memory_order_relaxed);
      }
    }
  });
  std::vector<model::NameId> names;
  for (uint32_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != 0) names.push_back(model::NameId{i});
  }
  return names;
}

}  // namespace

std::string FrameworkOpName(std::string_view name) {
  const std::string scoped = ScopedName(name);
  return absl::StrCat(scoped, ":", TypeOf(scoped));
}

OperationNames::OperationNames(const model::Trace& trace,
                               const StepNames& steps)
    : trace_(trace) {
  const std::hash<std::string> hash;
  absl::flat_hash_map<uint64_t, uint64_t> next;  // by the hash of a name
  for (const model::NameId name : FindOperations(trace)) {
    if (steps.Number(name)) continue;
    const std::string scoped = ScopedName(trace.Name(name));
    if (next.try_emplace(hash(scoped), 2).second) continue;
    uint64_t number = next[hash(scoped)];
    while (!next.try_emplace(hash(Numbered(scoped, number)), 2).second) {
      ++number;
    }
    numbers_[Index(name)] = number;
    next[hash(scoped)] = number + 1;
  }
}

std::string OperationNames::Get(model::NameId name) const {
  const std::string scoped = ScopedName(trace_.Name(name));
  const auto number = numbers_.find(Index(name));
  return absl::StrCat(
      number == numbers_.end() ? scoped : Numbered(scoped, number->second), ":",
      TypeOf(scoped));
}

}  // namespace kymo::tensorboard
