#include "profiler/query/table_module.h"

#include <sqlite3.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/query/column_reader.h"

namespace kymo::query {
namespace {

using tables::Column;
using tables::ColumnType;
using tables::TextId;

// SQLite's structures come first in ours, as its interface wants it.
struct VirtualTable : sqlite3_vtab {
  ModuleTable* of = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  const tables::TraceTables* tables = nullptr;
  TableIndexes* indexes = nullptr;
  RowSet rows;
  std::vector<ColumnReader> readers;  // by column
};

const char* SqlType(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return "TEXT";
    case ColumnType::kDouble:
      return "REAL";
    case ColumnType::kInt64:
    case ColumnType::kBool:
      return "INTEGER";
  }
  return "";
}

std::string Declaration(const tables::Table& table) {
  std::string sql = "CREATE TABLE x(";
  for (const Column& column : table.columns) {
    if (!sql.ends_with('(')) sql += ", ";
    absl::StrAppend(&sql, "\"", ToAbsl(column.name), "\" ",
                    SqlType(column.type));
  }
  return sql + ")";
}

// SQLite is C: no exception may pass through it.
template <typename Body>
int Guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int Connect(sqlite3* database, void* module_table, int, const char* const*,
            sqlite3_vtab** made, char**) {
  return Guarded([&] {
    auto* const of = static_cast<ModuleTable*>(module_table);
    const int rc = sqlite3_declare_vtab(
        database, Declaration(of->indexes.table()).c_str());
    if (rc != SQLITE_OK) return rc;
    auto* const table = new VirtualTable();
    table->of = of;
    *made = table;
    return sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
  });
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

std::optional<Comparison> ComparisonOf(unsigned char op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return Comparison::kEqual;
    case SQLITE_INDEX_CONSTRAINT_LT:
      return Comparison::kLess;
    case SQLITE_INDEX_CONSTRAINT_LE:
      return Comparison::kLessOrEqual;
    case SQLITE_INDEX_CONSTRAINT_GT:
      return Comparison::kGreater;
    case SQLITE_INDEX_CONSTRAINT_GE:
      return Comparison::kGreaterOrEqual;
    default:
      return std::nullopt;
  }
}

// Texts of ours are compared byte by byte.
bool IsBinary(sqlite3_index_info* info, int constraint) {
  const char* const collation = sqlite3_vtab_collation(info, constraint);
  return collation != nullptr && strcmp(collation, "BINARY") == 0;
}

// -1 is SQLite's number of the row itself.
int ColumnOf(int column) { return column < 0 ? 0 : column; }

// The rows of tables without an id have no number that a query could ask for.
bool IsKnown(const TableIndexes& indexes, int column) {
  return column >= 0 || indexes.table().columns[0].name == "id";
}

std::optional<Order> OrderOf(const TableIndexes& indexes,
                             const sqlite3_index_info& info) {
  if (info.nOrderBy != 1 || !IsKnown(indexes, info.aOrderBy[0].iColumn)) {
    return std::nullopt;
  }
  return Order{ColumnOf(info.aOrderBy[0].iColumn), info.aOrderBy[0].desc != 0};
}

int BestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
  return Guarded([&] {
    TableIndexes& indexes = static_cast<VirtualTable*>(table)->of->indexes;
    std::vector<Wish> wishes;
    std::vector<int> constraints;  // by wish
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      const auto comparison = ComparisonOf(constraint.op);
      if (!constraint.usable || !comparison || !IsBinary(info, i) ||
          !IsKnown(indexes, constraint.iColumn)) {
        continue;
      }
      wishes.push_back({ColumnOf(constraint.iColumn), *comparison});
      constraints.push_back(i);
    }
    const PlanChoice plan =
        ChoosePlan(indexes, wishes, OrderOf(indexes, *info));
    int arguments = 0;
    for (size_t i = 0; i < wishes.size(); ++i) {
      if (plan.is_used[i]) {
        info->aConstraintUsage[constraints[i]].argvIndex = ++arguments;
      }
    }
    info->idxStr = sqlite3_mprintf("%s", plan.steps.c_str());
    if (info->idxStr == nullptr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->orderByConsumed = plan.is_ordered ? 1 : 0;
    info->estimatedCost = plan.cost;
    info->estimatedRows = static_cast<sqlite3_int64>(plan.rows);
    if (plan.is_one_row) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
  });
}

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
  return Guarded([&] {
    ModuleTable& of = *static_cast<VirtualTable*>(table)->of;
    auto cursor = std::make_unique<Cursor>();
    cursor->tables = of.tables;
    cursor->indexes = &of.indexes;
    for (const Column& column : of.indexes.table().columns) {
      cursor->readers.emplace_back(*of.tables, column);
    }
    *made = cursor.release();
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

PlanValue ValueOf(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return Null{};
    case SQLITE_INTEGER:
      return int64_t{sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      const auto* const text =
          reinterpret_cast<const char*>(sqlite3_value_text(value));
      if (text == nullptr) return std::monostate();
      return std::string_view(text,
                              static_cast<size_t>(sqlite3_value_bytes(value)));
    }
    default:
      return std::monostate();
  }
}

int Filter(sqlite3_vtab_cursor* at, int, const char* steps, int count,
           sqlite3_value** values) {
  return Guarded([&] {
    std::vector<PlanValue> plan_values;
    for (int i = 0; i < count; ++i) plan_values.push_back(ValueOf(values[i]));
    auto* const cursor = static_cast<Cursor*>(at);
    FindRows(steps == nullptr ? "" : steps, plan_values, *cursor->indexes,
             cursor->rows);
    for (ColumnReader& reader : cursor->readers) reader.Forget();
    return SQLITE_OK;
  });
}

int Next(sqlite3_vtab_cursor* at) {
  static_cast<Cursor*>(at)->rows.Next();
  return SQLITE_OK;
}

int AtEnd(sqlite3_vtab_cursor* cursor) {
  return static_cast<Cursor*>(cursor)->rows.AtEnd() ? 1 : 0;
}

void SetText(const Cursor& cursor, TextId id, sqlite3_context* context) {
  if (id == tables::kNoText) {
    sqlite3_result_null(context);
    return;
  }
  const std::string_view text = cursor.tables->Text(id);
  // An empty text may have no address, which SQLite would take for NULL.
  sqlite3_result_text64(context, text.empty() ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
}

int ReadColumn(sqlite3_vtab_cursor* at, sqlite3_context* context, int number) {
  return Guarded([&] {
    Cursor& cursor = *static_cast<Cursor*>(at);
    ColumnReader& reader = cursor.readers[static_cast<size_t>(number)];
    const ColumnReader::Value value = reader.Read(cursor.rows);
    switch (reader.type()) {
      case ColumnType::kText:
        SetText(cursor, value.text, context);
        break;
      case ColumnType::kDouble:
        // SQLite makes NULL of a NaN.
        if (value.is_valid) sqlite3_result_double(context, value.real);
        break;
      case ColumnType::kInt64:
      case ColumnType::kBool:
        if (value.is_valid) sqlite3_result_int64(context, value.number);
        break;
    }
    return SQLITE_OK;
  });
}

int RowNumber(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
  *number = static_cast<Cursor*>(cursor)->rows.row();
  return SQLITE_OK;
}

// No xCreate: the tables are there without a statement that makes them.
const sqlite3_module* Module() {
  static const sqlite3_module module = [] {
    sqlite3_module m = {};
    m.iVersion = 1;
    m.xConnect = Connect;
    m.xBestIndex = BestIndex;
    m.xDisconnect = Disconnect;
    m.xOpen = Open;
    m.xClose = Close;
    m.xFilter = Filter;
    m.xNext = Next;
    m.xEof = AtEnd;
    m.xColumn = ReadColumn;
    m.xRowid = RowNumber;
    return m;
  }();
  return &module;
}

}  // namespace

TableModules::TableModules(const tables::TraceTables& tables) {
  for (const tables::Table& table : tables::AllTables()) {
    tables_.push_back({&tables, TableIndexes(tables, table)});
  }
}

absl::Status TableModules::AddTo(sqlite3* database) {
  for (ModuleTable& table : tables_) {
    const std::string name(table.indexes.table().name);
    if (sqlite3_create_module_v2(database, name.c_str(), Module(), &table,
                                 nullptr) != SQLITE_OK) {
      return absl::InternalError(absl::StrCat("could not add the table ", name,
                                              ": ", sqlite3_errmsg(database)));
    }
  }
  return absl::OkStatus();
}

}  // namespace kymo::query
