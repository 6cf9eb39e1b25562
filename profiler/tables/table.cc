#include "profiler/tables/table.h"

#include <array>

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
  static const std::array kTables = {
      EventsTable(),   TracksTable(),     ProcessesTable(),
      ThreadsTable(),  NamesTable(),      ArgsTable(),
      CountersTable(), SamplesTable(),    StacksTable(),
      FramesTable(),   MemoryTable(),     AllocationsByStackTable(),
      WaitsTable(),    DeviceWorkTable(), StepsTable(),
      LedgerTable(),   MetadataTable(),   RanksTable(),
      CpuLimitsTable()};
  return kTables;
}

const Table* FindTable(std::string_view name) {
  for (const Table& table : AllTables()) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

}  // namespace kymo::tables
