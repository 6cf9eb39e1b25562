#include "examples/train_mlp/counts.h"

#include <cstdio>
#include <functional>
#include <mutex>

namespace mlp {
namespace {

struct Table {
  std::mutex mutex;
  // Nodes of a map stay where they are, so a counter's address is for good.
  std::map<std::string, std::atomic<uint64_t>, std::less<>> counters;
};

Table& GetTable() {
  static Table* const table = new Table;
  return *table;
}

// Names are text without control characters; a quote or a backslash is escaped.
std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::atomic<uint64_t>& CounterOf(std::string_view name) {
  Table& table = GetTable();
  const std::lock_guard lock(table.mutex);
  const auto it = table.counters.find(name);
  if (it != table.counters.end()) return it->second;
  return table.counters.try_emplace(std::string(name), 0).first->second;
}

std::map<std::string, uint64_t> Counts() {
  Table& table = GetTable();
  const std::lock_guard lock(table.mutex);
  std::map<std::string, uint64_t> counts;
  for (const auto& [name, counter] : table.counters) {
    counts[name] = counter.load(std::memory_order_relaxed);
  }
  return counts;
}

bool WriteCounts(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const char* separator = "{\n";
  for (const auto& [name, count] : Counts()) {
    std::fprintf(file, "%s  %s: %llu", separator, Quoted(name).c_str(),
                 static_cast<unsigned long long>(count));
    separator = ",\n";
  }
  std::fprintf(file, "%s}\n", *separator == '{' ? "{" : "\n");
  const bool written = std::ferror(file) == 0;
  return std::fclose(file) == 0 && written;
}

}  // namespace mlp
