#include "profiler/tables/table.h"

#include <atomic>
#include <memory>
#include <vector>

#include "profiler/tables/declarations.h"

namespace kymo::tables {

std::string_view ColumnTypeName(ColumnType type) noexcept {
  switch (type) {
    case ColumnType::kInt64:
      return "int64";
    case ColumnType::kDouble:
      return "double";
    case ColumnType::kText:
      return "text";
    case ColumnType::kBool:
      return "bool";
  }
  return "";
}

const Column* Table::FindColumn(std::string_view column) const {
  for (const Column& candidate : columns) {
    if (candidate.name == column) return &candidate;
  }
  return nullptr;
}

std::span<const Table> AllTables() {
  // No thread waits for another one that makes them: see
  // profiler/library/first_use_test.sh.
  static constinit std::atomic<const std::vector<Table>*> kept{nullptr};
  if (const auto* const tables = kept.load()) return *tables;
  auto tables = std::make_unique<const std::vector<Table>>(std::vector{
      EventsTable(), TracksTable(), ProcessesTable(), ThreadsTable(),
      NamesTable(), ArgsTable(), CountersTable(), SamplesTable(), StacksTable(),
      FramesTable(), MemoryTable(), AllocationsByStackTable(), WaitsTable(),
      DeviceWorkTable(), StepsTable(), LedgerTable(), MetadataTable(),
      RanksTable(), CpuLimitsTable()});
  const std::vector<Table>* there = nullptr;
  if (!kept.compare_exchange_strong(there, tables.get())) return *there;
  return *tables.release();
}

const Table* FindTable(std::string_view name) {
  for (const Table& table : AllTables()) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

}  // namespace kymo::tables
